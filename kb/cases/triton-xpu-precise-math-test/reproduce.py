"""A kernel's result is compared with a reference that was computed on the cpu.

Needs torch and one accelerator. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` compares on the cpu and prints "fixed: ok". On an Intel GPU the
message has xpu:0 where it has cuda:0 here.
"""

import sys

import torch


def kernel(x, y, out):
    out.copy_(x.div(y).sqrt())


def test_precise_math(device, variant):
    x = torch.rand(128, dtype=torch.float32)
    y = torch.rand(128, dtype=torch.float32) + 1
    out_ref = torch.div(x.double(), y.double()).sqrt().float()
    out = torch.empty(128, device=device)
    kernel(x.to(device), y.to(device), out)
    if variant == "fixed":
        out = out.cpu()
    assert (out - out_ref).abs().max() < 1e-5


def main(variant):
    test_precise_math(torch.accelerator.current_accelerator(), variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
