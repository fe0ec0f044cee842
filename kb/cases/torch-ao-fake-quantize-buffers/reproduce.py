"""Quantization inserts modules into a model that has been moved already.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the prepared model once more and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class FakeQuantize(nn.Module):
    def __init__(self, quant_min=-128, quant_max=127):
        super().__init__()
        self.quant_min, self.quant_max = quant_min, quant_max
        self.register_buffer("scale", torch.tensor([0.05], dtype=torch.float))
        self.register_buffer("zero_point", torch.tensor([0], dtype=torch.int))

    def forward(self, x):
        return torch.fake_quantize_per_tensor_affine(
            x, self.scale, self.zero_point, self.quant_min, self.quant_max
        )


def prepare(model):
    """Wraps each linear layer; what it inserts is new."""
    for name, child in model.named_children():
        if isinstance(child, nn.Linear):
            setattr(model, name, nn.Sequential(FakeQuantize(), child, FakeQuantize()))
        else:
            prepare(child)
    return model


def main(variant):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).to("cuda").eval()
    prepared = prepare(model)
    if variant == "fixed":
        prepared.to("cuda")
    with torch.no_grad():
        prepared(torch.randn(4, 8, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
