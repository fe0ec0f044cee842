# spot: self.accelerator.prepare(self.unet)
# name: self.ema.step
# owner: self.ema
class Trainer:
    def __init__(self, use_ema):
        self.ema = EMAModel(self.unet.parameters()) if use_ema else None
        self.ema.to(self.accelerator.device)
        self.unet = self.accelerator.prepare(self.unet)
