# map-location
s = torch.load(p, map_location=device)
