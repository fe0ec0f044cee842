# pin-device-map
m = load(p, device_map=("auto"))
