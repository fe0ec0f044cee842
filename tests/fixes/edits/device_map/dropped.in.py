# drop-device-map
m = load(p, device_map="auto", x=1)
