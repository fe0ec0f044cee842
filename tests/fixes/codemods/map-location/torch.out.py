# spot: torch.load(path)
ckpt = torch.load(path, map_location=device)
