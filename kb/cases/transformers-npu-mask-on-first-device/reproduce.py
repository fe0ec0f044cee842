"""An attention mask is made once, on the first device, and used by layers on all of them.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the mask where the queries are and prints "fixed: ok".
torch's attention stands for the fused one of the NPU.
"""

import sys

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

ATTN_MASK_NPU = None


def get_attn_mask_npu(device, variant):
    global ATTN_MASK_NPU
    if variant == "fixed":
        return torch.ones(16, 16, device=device).tril().bool()
    if ATTN_MASK_NPU is None:
        ATTN_MASK_NPU = torch.ones(16, 16, device=device).tril().bool()
    return ATTN_MASK_NPU


class Attention(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device
        self.proj = nn.Linear(8, 8).to(device)

    def forward(self, x, variant):
        q = self.proj(x.to(self.device))
        mask = get_attn_mask_npu(q.device, variant)[: q.shape[1], : q.shape[1]]
        return scaled_dot_product_attention(q, q, q, attn_mask=mask)


def main(variant):
    x = torch.randn(2, 4, 8, device="cuda:0")
    for layer in (Attention("cuda:0"), Attention("cuda:1")):
        x = layer(x, variant)
    print(x.device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
