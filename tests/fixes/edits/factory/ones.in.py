# create-on-device
y = x * torch.ones(3)
