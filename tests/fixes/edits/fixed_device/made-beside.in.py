# use-like-device-of-other
y = x * torch.ones(3)
