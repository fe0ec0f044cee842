# map-location
s = torch.load()
