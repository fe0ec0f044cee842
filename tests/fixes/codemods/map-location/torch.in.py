# spot: torch.load(path)
ckpt = torch.load(path)
