import torch


class Noise:
    def __init__(self, sigma):
        self.sigma = sigma

    def blank(self, batch):
        return torch.zeros(batch.shape, device=batch.device)

    def apply(self, batch):
        noise = torch.randn(batch.shape)  # finds: created-without-device
        return batch + noise * self.sigma
