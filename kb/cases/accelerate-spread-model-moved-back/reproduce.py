"""A model that is spread over devices is moved to the first one, while its hooks feed the others.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves a model only if it is on the cpu and prints "fixed: ok".
``Accelerator`` and ``add_hook`` have of accelerate's what matters here.
"""

import sys

import torch
from torch import nn


def add_hook(module, device):
    module.to(device)
    module.register_forward_pre_hook(lambda _, args: tuple(arg.to(device) for arg in args))


class Accelerator:
    device = torch.device("cuda:0")

    def __init__(self, variant):
        self.looks_first = variant == "fixed"

    def prepare_model(self, model):
        on_cpu = next(model.parameters()).device.type == "cpu"
        if on_cpu or not self.looks_first:
            model.to(self.device)
        return model


def main(variant):
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2))
    for layer, device in zip(model, ("cuda:0", "cuda:1"), strict=True):
        add_hook(layer, device)
    model = Accelerator(variant).prepare_model(model)
    print(model(torch.randn(4, 8)).device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
