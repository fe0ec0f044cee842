# spot: infer_auto_device_map(self.model)
device_map = infer_auto_device_map(self.model, no_split_module_classes=self.model._no_split_modules)
