s = torch.load(p, map_location="cpu")
