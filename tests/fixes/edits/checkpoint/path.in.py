# map-location
s = torch.load(p)
