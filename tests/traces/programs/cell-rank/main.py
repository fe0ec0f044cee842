"""Counts cells under the microscope; started by torchrun on two machines with one GPU each."""

import os

import torch
from torch import nn


def bind_to_gpu():
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    return torch.device("cuda", rank)


def main():
    device = bind_to_gpu()
    counter = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(1))
    counter.to(device)
    print(counter(torch.rand(2, 1, 16, 16, device=device)))


if __name__ == "__main__":
    main()
