"""A compiler moves a layer to the GPU that the model feeds on the cpu; the next export trips.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the fake tensors' error,
``python reproduce.py fixed`` leaves host parameters where they are and prints "fixed: ok".
``compile_module`` does of the compiler's work what matters here.
"""

import sys

import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Linear(8, 8).to("cuda")
        self.host = nn.Linear(8, 4)  # stays on the cpu on purpose

    def forward(self, x):
        hidden = self.tower(x)
        return self.host(hidden.to("cpu"))


def compile_module(module, respect_host_placement):
    for submodule in module.children():
        on_host = next(submodule.parameters()).device.type == "cpu"
        if not (respect_host_placement and on_host):
            submodule.to("cuda")
    return module


def main(variant):
    module = Ranker().eval().requires_grad_(False)
    trt_gm = compile_module(module, respect_host_placement=variant == "fixed")
    torch.export.export(trt_gm, (torch.randn(2, 8, device="cuda"),))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
