"""A demo honours --device for the image and never moves the model that it loaded.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` adds one line that moves the model and prints "fixed: ok".
The hourglass network is reduced to its stem and head; the checkpoint is an in-memory state_dict.
"""

import sys

import torch
from torch import nn


class HourglassNet(nn.Module):
    def __init__(self, num_classes=16):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, kernel_size=7, stride=2, padding=3)
        self.bn1 = nn.BatchNorm2d(8)
        self.score = nn.Conv2d(8, num_classes, kernel_size=1)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        return self.score(x)


def load_model(checkpoint):
    model = HourglassNet()
    model.load_state_dict(checkpoint)
    model.eval()
    return model


def inference(model, in_res, device):
    inps = torch.rand(1, 3, in_res, in_res).to(device)
    with torch.no_grad():
        return model(inps)


def main(variant):
    device = torch.device("cuda:0")
    checkpoint = HourglassNet().state_dict()
    model = load_model(checkpoint)
    if variant == "fixed":
        model = model.to(device)
    inference(model, 32, device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
