"""The .to(device) stands outside the call: it moves the network's output, not its input.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the input and prints "fixed: ok".
The network is the beginning of a ResNet, small and random.
"""

import sys

import torch
from torch import nn

BATCH_SIZE = 2


class ResNet(nn.Module):
    def __init__(self, image_channels, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(image_channels, 8, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.fc = nn.Linear(8, num_classes)

    def forward(self, x):
        x = self.conv1(x)
        x = torch.relu(self.bn1(x))
        return self.fc(x.mean(dim=(2, 3)))


def ResNet101(img_channel=3, num_classes=10):
    return ResNet(img_channel, num_classes)


def test(variant):
    device = torch.device("cuda:0")
    net = ResNet101(img_channel=3, num_classes=10).to(device)
    if variant == "failing":
        y = net(torch.randn(BATCH_SIZE, 3, 32, 32)).to(device)
    else:
        y = net(torch.randn(BATCH_SIZE, 3, 32, 32).to(device))
    assert y.size() == torch.Size([BATCH_SIZE, 10])
    print(f"{variant}: ok")


if __name__ == "__main__":
    test(sys.argv[1])
