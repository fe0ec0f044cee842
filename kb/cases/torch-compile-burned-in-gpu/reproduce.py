"""Code that was compiled for one GPU is run with tensors of another.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` compiles anew for another GPU and prints "fixed: ok".
``compile`` generates what Inductor generated then: the number of the GPU stands in the code.
"""

import sys

import torch


def codegen(device):
    def call(x, y):
        buf0 = torch.empty(x.shape[0], y.shape[1], device=device)
        torch.mm(x, y, out=buf0)
        return buf0

    return call


def compile(variant):
    compiled = {}

    def gemm_opt(x, y):
        # The guards: when may code that is there be used again?
        guard = (x.dtype, x.shape, y.shape)
        if variant == "fixed":
            guard += (x.device,)
        if guard not in compiled:
            compiled[guard] = codegen(x.device)
        return compiled[guard](x, y)

    return gemm_opt


def main(variant):
    torch.manual_seed(0)
    gemm_opt = compile(variant)
    for device in ("cuda:0", "cuda:1"):
        x, y = torch.randn(8, 8, device=device), torch.randn(8, 8, device=device)
        print(gemm_opt(x, y).device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
