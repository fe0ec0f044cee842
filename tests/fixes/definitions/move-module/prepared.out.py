# spot: accelerator.prepare(model, loader)
# owner: self.ema
model, loader = accelerator.prepare(model, loader)
self.ema = accelerator.prepare(self.ema)
