"""A quantizer is built in its first forward and asks a placeholder for the device.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` gives build the input's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class HGQQuantizer(nn.Module):
    def __init__(self, k=1.0, integer=2.0, fractional=5.0, variant="failing"):
        super().__init__()
        self._k, self._i, self._f = (torch.tensor(v) for v in (k, integer, fractional))
        self.variant, self.built = variant, False

    def build(self, shape, device=None):
        device = device or self._k.device
        self.i = nn.Parameter(torch.full(shape, float(self._i), device=device))
        self.f = nn.Parameter(torch.full(shape, float(self._f), device=device))
        self.built = True

    def forward(self, x):
        if not self.built:
            self.build(x.shape[1:], x.device if self.variant == "fixed" else None)
        step = torch.exp2(-self.f)
        limit = torch.exp2(self.i)
        rounded = x + ((x / step).round() * step - x).detach()
        return torch.minimum(torch.maximum(rounded, -limit), limit - step)


class PQDense(nn.Module):
    def __init__(self, inputs, outputs, variant):
        super().__init__()
        self.input_quantizer = HGQQuantizer(variant=variant)
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x):
        return self.linear(self.input_quantizer(x))


def main(variant):
    torch.manual_seed(0)
    model = nn.Sequential(PQDense(4, 8, variant), nn.ReLU(), PQDense(8, 2, variant)).to("cuda")
    x = torch.randn(6, 4, device="cuda")
    model(x)  # builds the quantizers; only now the optimizer knows all of them
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model(x).square().mean().backward()
    optimizer.step()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
