"""An SSD puts its priors on the GPU in __init__, its predictor puts the network on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` registers the priors as a buffer and prints "fixed: ok".
The predictor's device defaults to the cpu, the network's to the GPU if there is one. What is an
ordinary attribute is not among what .to() moves. The network is one layer.
"""

import sys

import torch
from torch import nn

PRIORS = torch.rand(6, 4)


def convert_locations_to_boxes(locations, priors, center_variance, size_variance):
    return torch.cat(
        [
            locations[..., :2] * center_variance * priors[..., 2:] + priors[..., :2],
            torch.exp(locations[..., 2:] * size_variance) * priors[..., 2:],
        ],
        dim=locations.dim() - 1,
    )


class SSD(nn.Module):
    def __init__(self, variant, device=None):
        super().__init__()
        self.regression_headers = nn.Linear(5, 6 * 4)
        self.device = device or torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        if variant == "failing":
            self.priors = PRIORS.to(self.device)
        else:
            self.register_buffer("priors", PRIORS.to(self.device), persistent=False)

    def forward(self, x):
        locations = self.regression_headers(x).view(-1, 6, 4)
        return convert_locations_to_boxes(locations, self.priors, 0.1, 0.2)


class Predictor:
    def __init__(self, net, device="cpu"):
        self.net = net.to(device).eval()
        self.device = device

    def predict(self, image):
        with torch.no_grad():
            return self.net.forward(image.to(self.device))


def main(variant):
    torch.manual_seed(0)
    predictor = Predictor(SSD(variant))
    predictor.predict(torch.rand(1, 5))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
