"""The current device is given as a number, which means a GPU also where the accelerator is the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` asks for the device's name and prints "fixed: ok".
``CPU_Accelerator`` has of its namesake the two methods; with no GPU at all torch says that there is none.
"""

import sys

import torch
from torch.nn.functional import linear


class CPU_Accelerator:
    def current_device(self):
        return 0

    def current_device_name(self):
        return "cpu"


def get_accelerator():
    return CPU_Accelerator()


class LinearLayer:
    def __init__(self, weight, variant):
        accelerator = get_accelerator()
        if variant == "fixed":
            device = accelerator.current_device_name()
        else:
            device = accelerator.current_device()
        self.weight = torch.empty(weight.shape, device=device)
        self.weight.copy_(weight)

    def forward(self, x):
        return linear(x, self.weight)


def main(variant):
    layer = LinearLayer(torch.ones(2, 3), variant)
    print(layer.forward(torch.ones(4, 3)).device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
