"""Tensors are registered as buffers, and the list made of them beside that is not moved.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` looks the buffers up when it needs them and prints "fixed: ok".
.to() gives the module new buffers; the list goes on holding the old ones.
"""

import sys

import torch
from torch import nn


class FilterBank(nn.Module):
    def __init__(self, widths, variant):
        super().__init__()
        self.names = [f"window_{width}" for width in widths]
        for name, width in zip(self.names, widths, strict=True):
            self.register_buffer(name, torch.hann_window(width, periodic=False))
        self.windows = [getattr(self, name) for name in self.names]
        self.variant = variant

    def current_windows(self):
        if self.variant == "failing":
            return self.windows
        return [getattr(self, name) for name in self.names]

    def forward(self, signal):
        return [signal[..., : len(window)] * window for window in self.current_windows()]


def main(variant):
    bank = FilterBank([4, 8], variant).cuda()
    print("buffer:", bank.window_4.device, "list:", bank.windows[0].device, file=sys.stderr)
    bank(torch.rand(2, 16, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
