# cause: cross-shard-op
# spot: infer_auto_device_map(model, no_split_module_classes=[])
# wanted: cuda:0
device_map = infer_auto_device_map(model, no_split_module_classes=[])
