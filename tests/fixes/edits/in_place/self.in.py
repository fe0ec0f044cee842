# no-to-on-quantized
self.to(device)
