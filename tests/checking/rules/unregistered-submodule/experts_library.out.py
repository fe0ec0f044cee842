"""Library code only."""
import torch
from torch import nn


class MoE(nn.Module):
    def __init__(self, dim, n_experts):
        super().__init__()
        self.gate = nn.Linear(dim, n_experts)
        self.experts = nn.ModuleList([nn.Linear(dim, dim) for _ in range(n_experts)])  # finds: unregistered-submodule

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        return sum(p.unsqueeze(-1) * e(x) for p, e in zip(probs.unbind(-1), self.experts))
