"""A state dictionary whose tensors are on meta is loaded into a module with memory.

Needs torch and one GPU. ``python reproduce.py failing`` ends in load_state_dict's error about meta,
``python reproduce.py fixed`` assigns instead of copying and fills the module, and prints
"fixed: ok".
"""

import sys

import torch
from torch import nn


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 4)
        self.outer = nn.Linear(4, 2)

    def forward(self, x):
        return self.outer(torch.relu(self.inner(x)))


def to_meta(state_dict):
    return {name: tensor.to("meta") for name, tensor in state_dict.items()}


def main(variant):
    torch.manual_seed(0)
    stage = Stage().to("cuda")
    weights = {name: tensor.cpu() for name, tensor in stage.state_dict().items()}

    # Frees the stage's memory while another one is at work.
    if variant == "fixed":
        stage.load_state_dict(to_meta(weights), assign=True)
    else:
        stage.load_state_dict(to_meta(weights))
    assert all(p.is_meta for p in stage.parameters())

    stage.to_empty(device="cuda")
    stage.load_state_dict(weights)
    stage(torch.randn(2, 3, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
