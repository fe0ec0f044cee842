"""A lower bound is made into a tensor on the cpu and compared with a scale on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes it where the minimum is and prints "fixed: ok".
"""

import sys

import torch
from torch import nn

EPS = torch.finfo(torch.float32).eps


def determine_qparams(min_val, max_val, quant_min, quant_max, variant, eps=EPS):
    low, high = min_val.clamp(max=0), max_val.clamp(min=0)
    smallest = torch.tensor([eps])
    if variant == "fixed":
        smallest = smallest.to(low.device)
    scale = torch.maximum((high - low) / (quant_max - quant_min), smallest)
    return scale, quant_min - (low / scale).round()


class PerChannelMinMaxObserver(nn.Module):
    def __init__(self, variant, channels):
        super().__init__()
        self.variant = variant
        self.register_buffer("min_val", torch.full((channels,), torch.inf))
        self.register_buffer("max_val", torch.full((channels,), -torch.inf))

    def forward(self, x):
        flat = x.detach().flatten(1)
        self.min_val = torch.minimum(self.min_val, flat.amin(1))
        self.max_val = torch.maximum(self.max_val, flat.amax(1))
        return x

    def calculate_qparams(self):
        return determine_qparams(self.min_val, self.max_val, -128, 127, self.variant)


def main(variant):
    torch.manual_seed(0)
    layer = nn.Conv2d(3, 4, 3).to("cuda")
    observer = PerChannelMinMaxObserver(variant, channels=4).to("cuda")
    observer(layer.weight)
    scale, zero_point = observer.calculate_qparams()
    print("zero points", zero_point.tolist())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
