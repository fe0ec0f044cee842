"""A graph has the device of its export written in it and is moved like a module.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the devices in the graph as well and prints "fixed: ok".
``move_graph`` does by hand what torch's move_to_device_pass does before module() is called.
"""

import sys

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 8)

    def forward(self, x):
        positions = torch.arange(x.shape[1], device=x.device)
        return self.embed(x) + positions[:, None]


def move_graph(gm, device):
    for node in gm.graph.nodes:
        if "device" in node.kwargs:
            node.kwargs = {**node.kwargs, "device": torch.device(device)}
    gm.recompile()


def main(variant):
    inputs = torch.randn(2, 5, 4)
    gm = torch.export.export(Encoder(), (inputs,)).module()
    gm.to("cuda")  # the graph still says device="cpu" for positions
    if variant == "fixed":
        move_graph(gm, "cuda")
    gm(inputs.to("cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
