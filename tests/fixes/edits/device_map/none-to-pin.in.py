# pin-device-map
m = load(p)
