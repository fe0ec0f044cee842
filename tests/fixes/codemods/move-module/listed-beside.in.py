# cause: module-not-moved
# spot: (self.vae, self.unet)
# owner: self.words
# devices: device
class Run:
    def place(self, device):
        for module in (self.vae, self.unet):
            module.to(device)
