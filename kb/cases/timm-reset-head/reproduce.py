"""Resetting the classifier of a model on the GPU makes the new layer on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes device and dtype from the old layer and prints "fixed: ok".
``ClassifierHead`` has what matters of timm's: pooling, a layer, and reset() for another task.
"""

import sys

import torch
from torch import nn


class ClassifierHead(nn.Module):
    def __init__(self, in_features, num_classes, keeps_device):
        super().__init__()
        self.in_features = in_features
        self.keeps_device = keeps_device
        self.fc = nn.Linear(in_features, num_classes)

    def reset(self, num_classes):
        weight = self.fc.weight
        where = {"device": weight.device, "dtype": weight.dtype} if self.keeps_device else {}
        self.fc = nn.Linear(self.in_features, num_classes, **where)

    def forward(self, x):
        return self.fc(x.mean(dim=(2, 3)))


class ConvNet(nn.Module):
    def __init__(self, num_classes, keeps_device):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, kernel_size=3, stride=2)
        self.head = ClassifierHead(8, num_classes, keeps_device)

    def reset_classifier(self, num_classes):
        self.head.reset(num_classes)

    def forward(self, x):
        return self.head(self.stem(x))


def main(variant):
    torch.manual_seed(0)
    model = ConvNet(num_classes=1000, keeps_device=variant == "fixed").to("cuda:0")
    images = torch.rand(2, 3, 16, 16, device="cuda:0")
    assert model(images).shape == (2, 1000)
    model.reset_classifier(num_classes=5)
    assert model(images).shape == (2, 5)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
