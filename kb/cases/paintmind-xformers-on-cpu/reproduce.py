"""A model on the cpu calls an attention operator that has kernels for CUDA only.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the dispatcher's error,
``python reproduce.py fixed`` moves model and image and prints "fixed: ok". xformers is imitated
in its choice of an operator: each says which devices it supports, and why it cannot be used.
"""

import sys

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

OPERATORS = {"cutlassF": {"cuda"}, "flshattF": {"cuda"}}


def memory_efficient_attention(query, key, value):
    reasons = []
    for name, devices in OPERATORS.items():
        if query.device.type in devices:
            q, k, v = (x.transpose(1, 2) for x in (query, key, value))
            return scaled_dot_product_attention(q, k, v).transpose(1, 2)
        reasons.append(
            f"`{name}` is not supported because:\n    device={query.device} (supported: {devices})"
        )
    shape = f"shape={tuple(query.shape)} ({query.dtype})"
    raise NotImplementedError(
        "No operator found for `memory_efficient_attention_forward` with inputs:\n"
        f"     query       : {shape}\n" + "\n".join(reasons)
    )


class CrossAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.to_out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        split = (*x.shape[:2], self.heads, -1)
        q, k, v = (part.reshape(split) for part in self.qkv(x).chunk(3, dim=-1))
        return self.to_out(memory_efficient_attention(q, k, v).flatten(2))


class Reconstructor(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_patch = nn.Conv2d(3, 16, 4, stride=4)
        self.attn = CrossAttention(16, heads=2)

    def forward(self, image):
        return self.attn(self.to_patch(image).flatten(2).mT)


def main(variant):
    model, image = Reconstructor().eval(), torch.rand(1, 3, 16, 16)
    if variant == "fixed":
        model, image = model.cuda(), image.cuda()
    with torch.no_grad():
        model(image)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
