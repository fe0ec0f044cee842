# spot: infer_auto_device_map(make())
device_map = infer_auto_device_map(make())
