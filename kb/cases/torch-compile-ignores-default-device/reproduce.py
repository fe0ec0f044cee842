"""A compiler traces a function without the default device that eager mode would have used.

Needs torch and one GPU. ``python reproduce.py failing`` ends in FakeTensor's device error,
``python reproduce.py fixed`` names the device in the function and prints "fixed: ok".
``compile`` is Dynamo in small: it runs the function once on fake tensors, and the mode behind
torch.set_default_device is not asked for factories while it does.
"""

import functools
import sys

import torch
from torch._subclasses.fake_tensor import FakeTensorMode


def compile(function):
    @functools.wraps(function)
    def run(*args):
        default_device = torch.get_default_device()
        torch.set_default_device(None)
        try:
            with FakeTensorMode() as mode:
                function(*(mode.from_tensor(arg) for arg in args))
        finally:
            torch.set_default_device(default_device)
        return function(*args)

    return run


@compile
def add_noise(x):
    return x * torch.randn(1)


@compile
def add_noise_where_x_is(x):
    return x * torch.randn(1, device=x.device)


def main(variant):
    torch.set_default_device("cuda")
    x = torch.randn(3)
    if variant == "fixed":
        add_noise_where_x_is(x)
    else:
        add_noise(x)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
