"""A vision embedding looks its patches up in a table that it makes on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the table on the pixels' device and prints "fixed: ok".
``Idefics3VisionEmbeddings`` computes as transformers 4.55.0 did, in small.
"""

import sys

import torch
from torch import nn


class Idefics3VisionEmbeddings(nn.Module):
    def __init__(self, variant, num_patches_per_side=4, patch_size=8):
        super().__init__()
        self.variant = variant
        self.num_patches_per_side = num_patches_per_side
        self.patch_embedding = nn.Conv2d(3, 8, patch_size, stride=patch_size)
        self.position_embedding = nn.Embedding(num_patches_per_side**2, 8)

    def forward(self, pixel_values):
        patches = self.patch_embedding(pixel_values)
        rows = patches.shape[-2]
        table_device = pixel_values.device if self.variant == "fixed" else None
        step = 1 / self.num_patches_per_side
        boundaries = torch.arange(step, 1.0, step, device=table_device)
        fractional = torch.arange(rows, device=pixel_values.device) / rows
        buckets = torch.bucketize(fractional, boundaries, right=True)
        position_ids = (buckets[:, None] * self.num_patches_per_side + buckets).flatten()
        return patches.flatten(2).transpose(1, 2) + self.position_embedding(position_ids)


def main(variant):
    model = Idefics3VisionEmbeddings(variant).to("cuda")
    model(torch.rand(1, 3, 32, 32, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
