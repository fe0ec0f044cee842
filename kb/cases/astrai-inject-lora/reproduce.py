"""inject_lora() replaces Linear layers of a model on the GPU by ones with factors on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the factors where the base weight is and prints "fixed: ok".
The model is two layers, small and random.
"""

import sys

import torch
from torch import nn
from torch.nn import functional as F


class LoRALinear(nn.Module):
    def __init__(self, base, rank, like_base):
        super().__init__()
        self.base = base
        # Without these, torch.randn and torch.zeros give float32 on the cpu.
        where = {"device": base.weight.device, "dtype": base.weight.dtype} if like_base else {}
        self.lora_A = nn.Parameter(torch.randn(rank, base.in_features, **where) * 0.01)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank, **where))

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.lora_A), self.lora_B)


def inject_lora(model, rank, like_base):
    for name, module in model.named_children():
        if isinstance(module, nn.Linear):
            setattr(model, name, LoRALinear(module, rank, like_base))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(16, 8)
        self.q_proj = nn.Linear(8, 8)

    def forward(self, input_ids):
        return self.q_proj(self.embed(input_ids))


def main(variant):
    torch.manual_seed(0)
    model = Model()
    model.to("cuda")
    inject_lora(model, rank=2, like_base=variant == "fixed")
    model(torch.tensor([[1, 2, 3]], device="cuda")).sum().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
