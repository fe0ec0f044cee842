"""A whole model on the cpu reaches an attention operator whose cpu side is a stub.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the extension's error,
``python reproduce.py fixed`` moves model and image and prints "fixed: ok". ``MSDA`` refuses cpu
tensors as the extension does.
"""

import sys

import torch
from torch import nn


class MSDA:
    @staticmethod
    def ms_deform_attn_forward(value, attention_weights):
        if not value.is_cuda:
            raise RuntimeError("Not implemented on the CPU")
        return (value * attention_weights[..., None]).sum(1)


class MSDeformAttnFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, attention_weights):
        ctx.save_for_backward(value, attention_weights)
        return MSDA.ms_deform_attn_forward(value, attention_weights)


class MSDeformAttn(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.value_proj = nn.Linear(d_model, d_model)
        self.attention_weights = nn.Linear(d_model, 1)

    def forward(self, src):
        weights = self.attention_weights(src)[..., 0].softmax(-1)
        return MSDeformAttnFunction.apply(self.value_proj(src), weights)


class DeformableDETR(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2d(3, 8, 4, stride=4)
        self.transformer = MSDeformAttn(8)

    def forward(self, samples):
        src = self.backbone(samples).flatten(2).transpose(1, 2)
        return self.transformer(src)


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
