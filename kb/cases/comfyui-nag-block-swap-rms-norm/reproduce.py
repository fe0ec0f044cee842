"""A replaced forward uses a block's layers without the hook that would bring the block.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the block in the new forward too and prints "fixed: ok".
"""

import sys
from types import MethodType

import torch
from torch import nn


class WanAttentionBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_q = nn.RMSNorm(8)
        self.q = nn.Linear(8, 8)

    def forward(self, x):
        return self.q(self.norm_q(x))


class WanModel(nn.Module):
    def __init__(self, blocks_to_swap):
        super().__init__()
        self.blocks = nn.ModuleList([WanAttentionBlock() for _ in range(2)])
        for block in self.blocks[: len(self.blocks) - blocks_to_swap]:
            block.to("cuda")

    def forward(self, x):
        for block in self.blocks:
            block.to(x.device)  # the block swap
            x = block(x)
            block.to("cpu")
        return x


def nag_forward(bring):
    def forward(self, x):
        guided = x
        for block in self.blocks:
            if bring:
                block.to(x.device)
            guided = block.q(block.norm_q(guided))
        return guided

    return forward


def main(variant):
    model = WanModel(blocks_to_swap=1).requires_grad_(False)
    model.forward = MethodType(nag_forward(bring=variant == "fixed"), model)
    model(torch.randn(1, 4, 8, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
