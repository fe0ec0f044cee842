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


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.li = nn.Linear(10, 10)

    def forward(self, x, noise=None):
        if noise is None:
            # x.device is a plain value while the code is recorded.
            noise = torch.randn(10, device=x.device)
        return self.li(x + noise)


def main(variant):
    net = Net().requires_grad_(False)
    inputs = [torch.randn(2, 10)]
    if variant == "fixed":
        inputs.append(torch.randn(10))
    traced_model = make_fx(net)(*inputs)
    model = traced_model.to("cuda")
    model(*(tensor.to("cuda") for tensor in inputs))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
