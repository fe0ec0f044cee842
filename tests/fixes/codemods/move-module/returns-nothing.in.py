# spot: EMAModel(unet.parameters())
self.ema = EMAModel(unet.parameters())
