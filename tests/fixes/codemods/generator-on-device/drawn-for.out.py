# cause: generator-device
# spot: torch.randperm(n, generator=self.rng)
# name: self.rng
import torch


class Sampler:
    def __init__(self, device):
        self.rng = torch.Generator(device=device)

    def split(self, n):
        return torch.randperm(n, generator=self.rng, device=self.rng.device)
