# create-on-device
x = load(name) * torch.ones(3)
