# map-location
s = torch.load(*paths)
