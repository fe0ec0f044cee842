# drop-device-map
m = load(p
