# create-on-device
n = torch.rand(n) * torch.ones(3)
