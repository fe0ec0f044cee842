# spot: infer_auto_device_map(self.model)
device_map = infer_auto_device_map(self.model)
