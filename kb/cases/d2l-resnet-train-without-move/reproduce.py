"""A network that only an earlier run would have moved is wrapped for two GPUs.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves it where it is wrapped and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def train(net, num_gpus, variant):
    devices = [torch.device("cuda", i) for i in range(num_gpus)]
    if variant == "fixed":
        net.to(devices[0])
    net = nn.DataParallel(net, device_ids=devices)
    trainer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = nn.CrossEntropyLoss()
    for _ in range(2):
        X, y = torch.randn(4, 1, 8, 8), torch.randint(10, (4,))
        trainer.zero_grad()
        X, y = X.to(devices[0]), y.to(devices[0])
        loss(net(X), y).backward()
        trainer.step()


def main(variant):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))
    train(net, num_gpus=2, variant=variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
