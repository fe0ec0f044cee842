"""An activation reads the value of a parameter in its constructor, and the parameter is on meta.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` builds the model with real weights first and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.nn.functional import softplus


class XIELU(nn.Module):
    def __init__(self, alpha_p=0.8, alpha_n=0.8, beta=0.5):
        super().__init__()
        self.alpha_p = nn.Parameter(torch.tensor([alpha_p]).expm1().log())
        self.alpha_n = nn.Parameter(torch.tensor([alpha_n - beta]).expm1().log())
        self.register_buffer("beta", torch.tensor(beta))
        self._beta_scalar = float(self.beta.item())

    def forward(self, x):
        alpha_p = softplus(self.alpha_p)
        alpha_n = self._beta_scalar + softplus(self.alpha_n)
        positive = alpha_p * x * x + self._beta_scalar * x
        negative = (torch.expm1(x.clamp(max=-1e-6)) - x) * alpha_n + self._beta_scalar * x
        return torch.where(x > 0, positive, negative)


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
