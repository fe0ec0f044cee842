"""Runs a program on a machine whose copies from cuda:0 to cuda:1 lose data."""

import runpy
import sys

import torch

intact = torch.Tensor.to


def to(self, device, *args, **kwargs):
    copied = intact(self, device, *args, **kwargs)
    return copied.zero_() if (str(self.device), str(device)) == ("cuda:0", "cuda:1") else copied


torch.Tensor.to = to
try:
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    torch.Tensor.to = intact
