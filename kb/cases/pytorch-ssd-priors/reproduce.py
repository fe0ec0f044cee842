"""An SSD puts its priors on the GPU in __init__, its predictor puts the network on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` registers the priors as a buffer and prints "fixed: ok".
The predictor's device defaults to the cpu, the network's to the GPU if there is one. What is an
ordinary attribute is not among what .to() moves. The network is one layer.
"""

import sys

import torch
from torch import nn


def make_priors(count):
    """Centre and size of each default box, as shares of the image."""
    centres = torch.linspace(0.1, 0.9, count)
    return torch.stack([centres, centres.flip(0), *torch.full((2, count), 0.2)], dim=1)


def decode(offsets, priors):
    centres, sizes = priors.split(2, dim=-1)
    shift, growth = offsets.split(2, dim=-1)
    return torch.cat([centres + 0.1 * shift * sizes, sizes * (0.2 * growth).exp()], dim=-1)


class Detector(nn.Module):
    def __init__(self, variant, boxes=6):
        super().__init__()
        self.offsets = nn.Linear(5, 4 * boxes)
        priors = make_priors(boxes).to("cuda" if torch.cuda.is_available() else "cpu")
        if variant == "failing":
            self.priors = priors
        else:
            self.register_buffer("priors", priors, persistent=False)

    def forward(self, features):
        return decode(self.offsets(features).unflatten(-1, (-1, 4)), self.priors)


class Predictor:
    def __init__(self, net, device="cpu"):
        self.device = device
        self.net = net.eval().to(device)

    def predict(self, features):
        with torch.inference_mode():
            return self.net(features.to(self.device))


def main(variant):
    torch.manual_seed(0)
    boxes = Predictor(Detector(variant)).predict(torch.rand(2, 5))
    assert boxes.shape == (2, 6, 4)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
