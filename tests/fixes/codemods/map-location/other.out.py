# spot: torch.load(path, map_location="cuda:0", weights_only=True)
ckpt = torch.load(path, map_location=device, weights_only=True)
