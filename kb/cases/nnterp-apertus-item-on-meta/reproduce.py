"""An activation reads the value of a parameter in its constructor, and the parameter is on meta.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` builds the model with real weights first and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.nn.functional import relu, softplus


class XIELU(nn.Module):
    """A parabola to the right, a line to the left, both with the slope beta at zero."""

    def __init__(self, curvature=0.8, beta=0.5):
        super().__init__()
        self.curvature = nn.Parameter(torch.tensor(curvature))
        self.beta = nn.Parameter(torch.tensor(beta))
        self.slope = self.beta.item()

    def forward(self, x):
        return self.slope * x + softplus(self.curvature) * relu(x).square()


class ApertusMLP(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.up_proj = nn.Linear(width, 2 * width, bias=False)
        self.act_fn = XIELU()
        self.down_proj = nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        return self.down_proj(self.act_fn(self.up_proj(x)))


class StandardizedTransformer:
    def __init__(self, model):
        if isinstance(model, type):
            with torch.device("meta"):
                skeleton = model()
            model = skeleton.to_empty(device="cuda")
            model.load_state_dict(type(model)().state_dict())
        self.model = model.to("cuda")

    @torch.no_grad()
    def trace(self, x):
        return self.model(x.to("cuda"))


def main(variant):
    torch.manual_seed(0)
    source = ApertusMLP if variant == "failing" else ApertusMLP()
    StandardizedTransformer(source).trace(torch.randn(2, 8))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
