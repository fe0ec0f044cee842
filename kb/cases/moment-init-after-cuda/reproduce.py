"""A pipeline builds the head of its task in init(), which is called after the move to the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` calls init() first and prints "fixed: ok".
Loading gives a model with the head of another task, reconstruction; init() puts the wanted one in
its place. The encoder is one layer, small and random.
"""

import sys

import torch
from torch import nn


class ReconstructionHead(nn.Module):
    def __init__(self, width, channels):
        super().__init__()
        self.linear = nn.Linear(width, channels)

    def forward(self, patches):
        return self.linear(patches)


class ClassificationHead(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.linear = nn.Linear(width, classes)

    def forward(self, patches):
        return self.linear(patches.mean(dim=1))


class Pipeline(nn.Module):
    def __init__(self, classes, channels=4, width=8):
        super().__init__()
        self.classes, self.width = classes, width
        self.encoder = nn.Linear(channels, width)
        self.head = ReconstructionHead(width, channels)

    def init(self):
        """Makes the pipeline one for classification."""
        self.head = ClassificationHead(self.width, self.classes)

    def forward(self, series):
        return self.head(torch.relu(self.encoder(series)))


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda")
    pipeline = Pipeline(classes=2)
    if variant == "fixed":
        pipeline.init()
    pipeline.to(device)
    if variant == "failing":
        pipeline.init()
    with torch.inference_mode():
        for series in torch.rand(2, 3, 5, 4):
            scores = pipeline(series.to(device))
            assert scores.shape == (3, 2)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
