# drop-device-map
m = load(device_map=("auto" if n > 1 else None))
