# spot: accelerator.prepare(model, loader)
# owner: self.ema
model, loader = accelerator.prepare(model, loader)
