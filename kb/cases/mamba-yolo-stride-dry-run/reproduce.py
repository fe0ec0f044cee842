"""A detector measures its strides by a forward on the cpu; a layer of it needs CUDA.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the kernel's error,
``python reproduce.py fixed`` measures on the GPU and prints "fixed: ok". ``selective_scan_fwd`` is
the kernel's check and a plain scan.
"""

import sys

import torch
from torch import nn


def torch_check(condition, text):
    """What TORCH_CHECK without a message prints."""
    if not condition:
        raise RuntimeError(
            f"Expected {text} to be true, but got false.  (Could this error message be improved?"
            "  If so, please report an enhancement request to PyTorch.)"
        )


def selective_scan_fwd(u):
    torch_check(u.is_cuda, "u.is_cuda()")
    return u.cumsum(-1)


class SS2D(nn.Module):
    def forward(self, x):
        return selective_scan_fwd(x)


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
