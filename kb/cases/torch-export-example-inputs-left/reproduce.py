"""An exported program was moved to the GPU without the example inputs that it carries.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves them as well and prints "fixed: ok".
``ExportedProgram`` keeps a graph of torch.fx and its inputs; "compiling" it means to run it once.
"""

import sys

import torch
from torch import fx, nn


class ExportedProgram:
    def __init__(self, model, example_inputs):
        self.graph_module = fx.symbolic_trace(model)
        self.example_inputs = example_inputs


def move_to_device_pass(program, device, variant):
    program.graph_module.to(device)
    if variant == "fixed":
        program.example_inputs = tuple(x.to(device) for x in program.example_inputs)
    return program


def aoti_compile_and_package(program):
    return program.graph_module(*program.example_inputs)


def main(variant):
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    program = ExportedProgram(model, (torch.randn(2, 8),))
    program = move_to_device_pass(program, "cuda", variant)
    print(aoti_compile_and_package(program).device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
