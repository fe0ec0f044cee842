# spot: infer_auto_device_map(model, max_memory=memory, no_split_module_classes=[])
device_map = infer_auto_device_map(model, max_memory=memory, no_split_module_classes=[])
