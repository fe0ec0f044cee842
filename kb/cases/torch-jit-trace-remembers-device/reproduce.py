"""A graph recorded on the cpu keeps the cpu as a constant and is run on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` gives the noise as an input, so that nothing about a device is
recorded, and prints "fixed: ok". make_fx stands for torch.jit.trace, which is deprecated: both run
the code once and write down what happened.
"""

import sys

import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx


class NoisyEncoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.encode = nn.Linear(width, 3)

    def forward(self, signal, noise=None):
        if noise is None:
            # signal.device is a plain value while the code is recorded.
            noise = 0.1 * torch.randn(self.width, device=signal.device)
        return self.encode(signal + noise)


def main(variant):
    encoder = NoisyEncoder(6).requires_grad_(False)
    inputs = [torch.rand(4, 6)]
    if variant == "fixed":
        inputs.append(0.1 * torch.randn(6))
    recorded = make_fx(encoder)(*inputs).to("cuda")
    recorded(*(tensor.to("cuda") for tensor in inputs))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
