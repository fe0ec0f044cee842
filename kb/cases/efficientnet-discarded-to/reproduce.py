"""``img.to(device)`` without an assignment leaves the image on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` keeps what .to() returns and prints "fixed: ok".
Module.to() moves a module in place, Tensor.to() does not; the two lines look alike. The network is
a stem and a head, small and random.
"""

import sys

import torch
from torch import nn


class EfficientNet(nn.Module):
    def __init__(self, num_classes=4):
        super().__init__()
        self._conv_stem = nn.Conv2d(3, 8, kernel_size=3, stride=2, bias=False)
        self._bn0 = nn.BatchNorm2d(8)
        self._fc = nn.Linear(8, num_classes)

    def extract_features(self, inputs):
        return torch.relu(self._bn0(self._conv_stem(inputs)))

    def forward(self, inputs):
        x = self.extract_features(inputs)
        return self._fc(x.mean(dim=(2, 3)))


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    img = torch.rand(3, 32, 32).unsqueeze(0)
    model = EfficientNet()
    if variant == "failing":
        img.to(device)
    else:
        img = img.to(device)
    model.to(device)
    model.eval()
    with torch.no_grad():
        model(img)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
