"""A kernel is launched on the current GPU while the data of the layer is on another one.

Needs torch and two GPUs. Nothing is raised by the launch, so ``python reproduce.py failing``
compares a norm with torch's own and ends in an AssertionError; ``python reproduce.py fixed`` enters
the data's GPU for the launch and prints "fixed: ok". ``launch`` stands for Triton's launcher: what
it is given of another GPU than the current one is not reached, and the output stays as it was.
"""

import sys
from contextlib import nullcontext

import torch
from torch import nn


def launch(kernel, output, *inputs):
    if output.get_device() == torch.cuda.current_device():
        output.copy_(kernel(*inputs))


def rms_norm_kernel(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


class LigerRMSNorm(nn.Module):
    def __init__(self, width, variant, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps, self.variant = eps, variant

    def forward(self, x):
        output = torch.zeros_like(x)
        guard = torch.cuda.device(x.device) if self.variant == "fixed" else nullcontext()
        with guard:
            launch(rms_norm_kernel, output, x, self.weight, self.eps)
        return output


class Layer(nn.Module):
    def __init__(self, width, variant):
        super().__init__()
        self.norm = LigerRMSNorm(width, variant)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return x + self.proj(self.norm(x))


def main(variant):
    torch.manual_seed(0)
    layers = [Layer(8, variant).to(torch.device("cuda", number)) for number in range(2)]
    hidden = torch.randn(4, 8, device="cuda:0")
    for number, layer in enumerate(layers):
        hidden = hidden.to(layer.proj.weight.device)
        got = layer.norm(hidden)
        wanted = nn.functional.rms_norm(hidden, (8,), layer.norm.weight, 1e-6)
        assert torch.allclose(got, wanted, atol=1e-5), (
            f"layer {number} on {hidden.device}: the norm differs from torch's, nothing was raised"
        )
        hidden = layer(hidden)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
