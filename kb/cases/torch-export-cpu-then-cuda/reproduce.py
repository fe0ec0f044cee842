"""A graph has the device of its export written in it and is moved like a module.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the program, with the devices in its graph, by torch's own
move_to_device_pass before a module is made of it, and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.export.passes import move_to_device_pass


class SequenceEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 8)

    def forward(self, sequence):
        """The order of the items is added as a number, which forward makes for itself."""
        order = torch.arange(sequence.shape[1], device=sequence.device)
        return self.project(sequence) + order[:, None]


def load_on_gpu(program, variant):
    if variant == "fixed":
        return move_to_device_pass(program, "cuda:0").module()
    return program.module().to("cuda:0")  # the graph still says device="cpu" for the order


def main(variant):
    sequence = torch.randn(2, 5, 4)
    encoder = SequenceEncoder().requires_grad_(False)
    program = torch.export.export(encoder, (sequence,))
    load_on_gpu(program, variant)(sequence.to("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
