# map-location
s = pickle.load(p)
