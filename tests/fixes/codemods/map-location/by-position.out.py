# spot: torch.load(path, "cuda:0")
ckpt = torch.load(path, device)
