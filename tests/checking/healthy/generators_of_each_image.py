# who draws says where to, beside the sizes
import torch


class ManyDraws:
    def __init__(self, device, seeds):
        self.sources = [torch.Generator(device).manual_seed(seed) for seed in seeds]

    def normal(self, size, **options):
        return torch.stack([torch.randn(size, generator=one, **options) for one in self.sources])

