# create-on-device
y = torch.ones(3)
