"""With blocks waiting on the cpu, the first activation is made there and meets a layer on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` swaps no blocks and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class Flux(nn.Module):
    def __init__(self, blocks_to_swap):
        super().__init__()
        self.blocks_to_swap = blocks_to_swap
        self.img_in = nn.Linear(4, 8)
        self.double_blocks = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])

    def move_to_device(self, device):
        """Moves what does not wait on the cpu."""
        resident = len(self.double_blocks) - self.blocks_to_swap
        for block in self.double_blocks[:resident]:
            block.to(device)
        if not self.blocks_to_swap:
            self.img_in.to(device)
        return self

    @property
    def device(self):
        return self.img_in.weight.device

    def forward(self, img):
        img = self.img_in(img.to(self.device))
        for block in self.double_blocks:
            img = block(img)
        return img


def train(variant):
    model = Flux(blocks_to_swap=0 if variant == "fixed" else 1).move_to_device("cuda")
    loss = model(torch.randn(2, 4, device="cuda")).pow(2).mean()
    loss.backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    train(sys.argv[1])
