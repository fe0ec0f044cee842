"""Compiled with CUDA graphs, new_zeros(..., device="cpu") gives a tensor on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in an AssertionError that names the
device, ``python reproduce.py fixed`` leaves CUDA graphs off and prints "fixed: ok".
``compile`` plays the lowering: with CUDA graphs a factory's device becomes that of its input.
"""

import sys

import torch
from torch.overrides import TorchFunctionMode


class CudagraphsLowering(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function is torch.Tensor.new_zeros:
            kwargs["device"] = args[0].device
        return function(*args, **kwargs)


def compile(function, cudagraphs):
    def run(x):
        if not cudagraphs:
            return function(x)
        with CudagraphsLowering():
            return function(x)

    return run


def histogram_on_host(x):
    counts = x.new_zeros((2, 3), device="cpu")
    return x * 2, counts


def main(variant):
    compiled = compile(histogram_on_host, cudagraphs=variant == "failing")
    doubled, counts = compiled(torch.ones(4, device="cuda:0"))
    assert doubled.is_cuda
    assert str(counts.device) == "cpu", (
        f"the function asks for a tensor on the cpu, and gets it silently on {counts.device}"
    )
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
