"""An activation reads the value of a buffer in its constructor, which runs on meta.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about meta,
``python reproduce.py fixed`` builds the model on a real device first and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class XIELU(nn.Module):
    def __init__(self, alpha=0.8, beta=0.5):
        super().__init__()
        self.register_buffer("alpha", torch.tensor(alpha))
        self.register_buffer("beta", torch.tensor(beta))
        # The fused kernel takes a number.
        self._beta_scalar = self.beta.item()

    def forward(self, x):
        negative = self.alpha * torch.expm1(x.clamp(max=0)) + self._beta_scalar * x
        return torch.where(x > 0, self.alpha * x * x + self._beta_scalar * x, negative)


class Apertus(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.up_proj = nn.Linear(width, 2 * width)
        self.act_fn = XIELU()
        self.down_proj = nn.Linear(2 * width, width)

    def forward(self, x):
        return self.down_proj(self.act_fn(self.up_proj(x)))


class StandardizedTransformer:
    """Builds a skeleton without memory first, unless it is handed a model."""

    def __init__(self, model):
        if isinstance(model, nn.Module):
            self._model = model
        else:
            with torch.device("meta"):
                skeleton = model()
            self._model = skeleton.to_empty(device="cuda")


def main(variant):
    torch.manual_seed(0)
    if variant == "fixed":
        model = StandardizedTransformer(Apertus().to("cuda"))
    else:
        model = StandardizedTransformer(Apertus)
    model._model(torch.randn(1, 8, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
