"""Moving a 4-bit weight leaves the code table of its quantization state on the first GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the whole state and prints "fixed: ok".
bitsandbytes is not needed: ``is_on_gpu`` asks what its kernels ask and raises its sentence; the
arithmetic of the format is reduced to a table look-up.
"""

import sys

import torch
from torch import nn


def is_on_gpu(tensors):
    if len({tensor.device.index for tensor in tensors}) > 1:
        found = [(tensor.shape, tensor.device) for tensor in tensors]
        raise RuntimeError(
            "Input tensors need to be on the same GPU, but found the following tensor and device "
            f"combinations:\n {found}"
        )


class QuantState:
    def __init__(self, absmax, code):
        self.absmax, self.code = absmax, code

    def to(self, device, move_code):
        self.absmax = self.absmax.to(device)
        if move_code:
            self.code = self.code.to(device)


class Linear4bit(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.weight = torch.randint(16, (8, 8), device=device)
        self.quant_state = QuantState(
            torch.rand(8, 1, device=device), torch.linspace(-1, 1, 16, device=device)
        )

    def move(self, device, move_code):
        self.weight = self.weight.to(device)
        self.quant_state.to(device, move_code)
        return self

    def forward(self, x):
        return matmul_4bit(x, self.weight, self.quant_state)


def matmul_4bit(x, weight, quant_state):
    is_on_gpu([x, weight, quant_state.absmax, quant_state.code])
    return x @ (quant_state.code[weight] * quant_state.absmax).mT


def main(variant):
    torch.manual_seed(0)
    # Quantized while loading, on the current GPU; then the pipeline goes to another one.
    layer = Linear4bit("cuda:0").move("cuda:1", move_code=variant == "fixed")
    output = layer(torch.randn(2, 8, device="cuda:1"))
    print("output on", output.device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
