"""A detector measures its strides by a forward on the cpu; a layer of it needs CUDA.

Needs torch, mamba_ssm's ``selective_scan_cuda`` (simulated GPUs bring it) and one GPU.
``python reproduce.py failing`` ends in the kernel's error, ``python reproduce.py fixed`` measures on the
GPU and prints "fixed: ok".
"""

import sys

import selective_scan_cuda
import torch
from torch import nn


class SS2D(nn.Module):
    def __init__(self, dim=8, state=2):
        super().__init__()
        self.A = nn.Parameter(-torch.rand(dim, state))
        self.B = nn.Parameter(torch.randn(dim, state))
        self.C = nn.Parameter(torch.randn(dim, state))

    def forward(self, x):
        u = x.flatten(2)
        delta = torch.ones_like(u)
        out, *_ = selective_scan_cuda.fwd(u, delta, self.A, self.B, self.C, None, None, None, True)
        return out.view_as(x)


class DetectionModel(nn.Module):
    def __init__(self, ch=3, measure_on="cpu"):
        super().__init__()
        self.model = nn.Sequential(nn.Conv2d(ch, 8, 3, stride=2, padding=1), SS2D())
        s = 32
        self.to(measure_on)
        x = self.forward(torch.zeros(1, ch, s, s, device=measure_on))
        self.stride = s / x.shape[-2]
        self.to("cpu")

    def forward(self, x):
        return self.predict(x)

    def predict(self, x):
        return self._predict_once(x)

    def _predict_once(self, x):
        for m in self.model:
            x = m(x)
        return x


def main(variant):
    model = DetectionModel(measure_on="cuda" if variant == "fixed" else "cpu")
    model.to("cuda")(torch.randn(1, 3, 32, 32, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
