"""A direct copy between two GPUs arrives as zeros, and the split model runs on.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in an AssertionError that says what
is silently wrong, ``python reproduce.py fixed`` stages the copy through the cpu and prints
"fixed: ok". Healthy machines copy rightly, so ``peer_copy`` plays the fault: it delivers zeros.
"""

import sys

import torch
from torch import nn


def peer_copy(tensor, device):
    """What Tensor.to does on the machines of the reports."""
    return torch.zeros_like(tensor, device=device)


def staged_copy(tensor, device):
    return tensor.cpu().to(device)


class SplitModel(nn.Module):
    def __init__(self, copy):
        super().__init__()
        self.copy = copy
        self.layer0 = nn.Linear(8, 8).to("cuda:0")
        self.layer1 = nn.Linear(8, 8).to("cuda:1")

    def forward(self, x):
        hidden = self.layer0(x)
        arrived = self.copy(hidden, "cuda:1")
        assert torch.equal(arrived.cpu(), hidden.cpu()), (
            f"hidden states changed silently from {hidden.device} to {arrived.device}: "
            f"norm {hidden.norm().item():.3f} became {arrived.norm().item():.3f}"
        )
        return self.layer1(arrived)


def main(variant):
    torch.manual_seed(0)
    model = SplitModel(staged_copy if variant == "fixed" else peer_copy)
    with torch.no_grad():
        model(torch.randn(2, 8, device="cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
