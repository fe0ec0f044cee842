# create-on-device
y = cfg.scale * torch.ones(3)
