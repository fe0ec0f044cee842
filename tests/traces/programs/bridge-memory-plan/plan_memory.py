"""How much memory a bigger crack detector would need, without making it (fake tensors)."""

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode


class CrackDetector(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 7, stride=4)
        self.mix = nn.Conv2d(width, width, 1)
        self.scale = nn.Parameter(torch.ones(width, 1, 1))

    def forward(self, picture):
        maps = self.mix(torch.relu(self.stem(picture)))
        return maps * self.scale + edge_prior(maps.shape[-1])


def edge_prior(side):
    return torch.linspace(0, 1, side)


def plan(width):
    with FakeTensorMode(), torch.no_grad():
        detector = CrackDetector(width).to("cuda")
        picture = torch.empty(1, 1, 512, 512, device="cuda")
        maps = detector(picture)
        return maps.numel() * maps.element_size()


if __name__ == "__main__":
    for width in (256, 1024):
        print(width, plan(width))
