"""A network is split over two GPUs; its output meets labels on the first one.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the labels to the output and prints "fixed: ok".
"""

import sys

import torch
from torch import nn

FIRST, SECOND = torch.device("cuda:0"), torch.device("cuda:1")


def block(channels_in, channels_out):
    convolution = nn.Conv2d(channels_in, channels_out, 3, stride=2, padding=1)
    return nn.Sequential(convolution, nn.BatchNorm2d(channels_out), nn.ReLU())


class HalvedNetwork(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.lower = nn.Sequential(block(3, 4), block(4, 8)).to(FIRST)
        self.upper = nn.Sequential(block(8, 8), nn.AdaptiveAvgPool2d(1), nn.Flatten()).to(SECOND)
        self.classifier = nn.Linear(8, num_classes).to(SECOND)

    def forward(self, images):
        lower = self.lower(images)
        return self.classifier(self.upper(lower.to(SECOND)))


def train(network, batches, variant):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    for images, labels in batches:
        scores = network(images.to(FIRST))
        labels = labels.to(scores.device if variant == "fixed" else FIRST)
        optimizer.zero_grad()
        criterion(scores, labels).backward()
        optimizer.step()


def main(variant):
    torch.manual_seed(0)
    batches = [(torch.randn(4, 3, 16, 16), torch.randint(2, (4,))) for _ in range(2)]
    train(HalvedNetwork(num_classes=2), batches, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
