"""A compiled copy to another GPU stays on the first one.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in an AssertionError that names the
device, ``python reproduce.py fixed`` runs the copy in eager mode and prints "fixed: ok".
``aoti_load_package`` plays what the generated code does: buffers are made on the device of
compilation, and the copy fills them.
"""

import sys

import torch
from torch import nn


class M(nn.Module):
    def forward(self, x):
        y = x.to("cuda:1")
        return x, y


def aoti_load_package(module, device):
    def run(x):
        outputs = []
        for output in module(x):
            buffer = torch.empty(output.shape, device=device)
            buffer.copy_(output)  # aoti_torch_copy_
            outputs.append(buffer)
        return tuple(outputs)

    return run


def main(variant):
    model = M()
    if variant == "failing":
        model = aoti_load_package(model, device="cuda:0")
    x, y = model(torch.rand(100, device="cuda:0"))
    assert str(y.device) == "cuda:1", f"forward sends y to cuda:1, and it is silently on {y.device}"
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
