"""A network is split over two GPUs; its output meets labels on the first one.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the labels to the output and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class CNN(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.seq1 = nn.Sequential(
            nn.Conv2d(3, 4, 3, stride=2), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)
        ).to("cuda:0")
        self.seq2 = nn.Sequential(nn.Conv2d(4, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1)).to(
            "cuda:1"
        )
        self.fc = nn.Linear(8, num_classes).to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))


def train(num_epochs, cnn, loaders, variant):
    cnn.train()
    loss_func = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(cnn.parameters(), lr=0.01)
    for _ in range(num_epochs):
        for images, labels in loaders["train"]:
            b_x, b_y = images.to("cuda:0"), labels.to("cuda:0")
            output = cnn(b_x)
            if variant == "fixed":
                b_y = b_y.to(output.device)
            loss = loss_func(output, b_y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def main(variant):
    torch.manual_seed(0)
    batches = [(torch.randn(4, 3, 16, 16), torch.randint(2, (4,))) for _ in range(2)]
    train(1, CNN(num_classes=2), {"train": batches}, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
