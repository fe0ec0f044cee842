# spot: accelerator.prepare(model, loader)
# owner: self.ema
model, loader, self.ema = accelerator.prepare(model, loader, self.ema)
