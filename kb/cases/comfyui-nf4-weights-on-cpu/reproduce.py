"""A kernel for 4-bit weights gets them from the cpu, where the program parks its models.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings weight and state to the GPU and prints "fixed: ok".
bitsandbytes is not needed: ``is_on_gpu`` asks what its kernels ask and raises its sentence.
"""

import sys

import torch
from torch import nn


def is_on_gpu(tensors):
    if not all(tensor.is_cuda for tensor in tensors):
        found = [(tensor.shape, tensor.device) for tensor in tensors]
        raise TypeError(
            "All input tensors need to be on the same GPU, but found some tensors to not be on a "
            f"GPU:\n {found}"
        )


def matmul_4bit(x, weight, absmax, code):
    is_on_gpu([weight, x, absmax, code])
    return x @ (code[weight] * absmax).mT


class Linear4bit(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.register_buffer("weight", torch.randint(16, (features, features)))
        self.register_buffer("absmax", torch.rand(features, 1))
        self.register_buffer("code", torch.linspace(-1, 1, 16))

    def forward(self, x):
        return matmul_4bit(x, self.weight, self.absmax, self.code)


class JoyTwoPipeline:
    """Keeps its model on one device and runs it on another, as the interface's programs do."""

    def __init__(self, load_device, offload_device):
        self.load_device, self.offload_device = load_device, offload_device
        self.model = Linear4bit(8).to(offload_device)

    def gen(self, features):
        return self.model(features.to(self.load_device))


def main(variant):
    torch.manual_seed(0)
    offload_device = "cpu" if variant == "failing" else "cuda"
    pipeline = JoyTwoPipeline(load_device="cuda", offload_device=offload_device)
    pipeline.gen(torch.randn(1, 8))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
