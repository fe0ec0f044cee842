"""A whole model on the cpu reaches an attention operator whose cpu side is a stub.

Needs torch, Deformable DETR's compiled ``MultiScaleDeformableAttention`` (simulated GPUs bring it) and one
GPU. ``python reproduce.py failing`` ends in the extension's error, ``python reproduce.py fixed`` moves
model and image and prints "fixed: ok".
"""

import sys

import MultiScaleDeformableAttention as MSDA
import torch
from torch import nn


class MSDeformAttnFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, shapes, starts, locations, weights, im2col_step):
        ctx.save_for_backward(value, shapes, starts, locations, weights)
        return MSDA.ms_deform_attn_forward(value, shapes, starts, locations, weights, im2col_step)


class MSDeformAttn(nn.Module):
    def __init__(self, d_model, n_heads=2, n_points=4):
        super().__init__()
        self.n_heads, self.n_points = n_heads, n_points
        self.value_proj = nn.Linear(d_model, d_model)
        self.sampling_offsets = nn.Linear(d_model, n_heads * n_points * 2)
        self.attention_weights = nn.Linear(d_model, n_heads * n_points)

    def forward(self, src, shapes, starts):
        value = self.value_proj(src).unflatten(-1, (self.n_heads, -1))
        points = (self.n_heads, 1, self.n_points)
        locations = self.sampling_offsets(src).sigmoid().unflatten(-1, (*points, 2))
        weights = self.attention_weights(src).unflatten(-1, points).softmax(-1)
        return MSDeformAttnFunction.apply(value, shapes, starts, locations, weights, 64)


class DeformableDETR(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2d(3, 8, 4, stride=4)
        self.transformer = MSDeformAttn(8)

    def forward(self, samples):
        features = self.backbone(samples)
        shapes = torch.tensor([features.shape[2:]], device=features.device)
        starts = torch.zeros(1, dtype=torch.long, device=features.device)
        return self.transformer(features.flatten(2).transpose(1, 2), shapes, starts)


def main(variant):
    model = DeformableDETR().eval()
    img = torch.rand(1, 3, 16, 16)
    if variant == "fixed":
        model, img = model.cuda(), img.cuda()
    with torch.no_grad():
        model(img)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
