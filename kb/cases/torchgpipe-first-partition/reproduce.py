"""A pipeline wrapper places its partitions on GPUs; the training loop's images stay on the cpu.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves them to the first partition's device and prints "fixed: ok".
GPipe is imitated without micro-batches: partitions, their devices, copies between them.
"""

import sys

import torch
from torch import nn


class GPipe(nn.Module):
    def __init__(self, module, balance, devices):
        super().__init__()
        layers = list(module)
        self.devices = [torch.device(device) for device in devices]
        self.partitions = nn.ModuleList()
        for size, device in zip(balance, self.devices):
            self.partitions.append(nn.Sequential(*layers[:size]).to(device))
            layers = layers[size:]

    def forward(self, batch):
        first, *later = self.partitions
        batch = first(batch)
        for partition, device in zip(later, self.devices[1:]):
            batch = partition(batch.to(device))
        return batch


def resnet(channels=4, num_classes=2):
    return nn.Sequential(
        nn.Conv2d(3, channels, kernel_size=3, padding=1),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(channels, num_classes),
    )


def train(model, train_loader, variant):
    for images, target in train_loader:
        if variant == "fixed":
            images = images.to(model.devices[0])
        output = model(images)
        nn.functional.cross_entropy(output, target.to(model.devices[-1])).backward()


def main(variant):
    torch.manual_seed(0)
    model = GPipe(resnet(), balance=[3, 3], devices=["cuda:0", "cuda:1"])
    train_loader = [(torch.rand(2, 3, 8, 8), torch.tensor([0, 1]))]
    train(model, train_loader, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
