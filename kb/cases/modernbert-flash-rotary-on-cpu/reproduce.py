"""A model on the cpu takes the flash-attention path because the package is installed.

Needs torch, Triton (simulated GPUs bring what is needed of it) and one GPU, which the program does not use.
``python reproduce.py failing`` ends in the launcher's error, ``python reproduce.py fixed`` asks for sdpa
and prints "fixed: ok". flash-attn is not needed: the kernel that rotates the queries is
written anew in few lines.
"""

import sys

import torch
import triton
import triton.language as tl
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


@triton.jit
def rotary_kernel(out_ptr, x_ptr, seqlen, HALF: tl.constexpr):
    position = tl.program_id(0) % seqlen
    start = tl.program_id(0) * 2 * HALF
    lane = tl.arange(0, HALF)
    angle = position * tl.exp2(-lane.to(tl.float32))
    x0, x1 = tl.load(x_ptr + start + lane), tl.load(x_ptr + start + HALF + lane)
    tl.store(out_ptr + start + lane, x0 * tl.cos(angle) - x1 * tl.sin(angle))
    tl.store(out_ptr + start + HALF + lane, x0 * tl.sin(angle) + x1 * tl.cos(angle))


def apply_rotary(x):
    output = torch.empty_like(x)
    seqlen, headdim = x.shape[-2:]
    rotary_kernel[(x.numel() // headdim,)](output, x, seqlen, HALF=headdim // 2)
    return output


def flash_attention_forward(module, qkv):
    query, key, value = qkv
    query, key = apply_rotary(query.contiguous()), apply_rotary(key.contiguous())
    return scaled_dot_product_attention(query, key, value)


def sdpa_attention_forward(module, qkv):
    query, key, value = qkv
    return scaled_dot_product_attention(query, key, value)


class ModernBertAttention(nn.Module):
    def __init__(self, attn_implementation="flash_attention_2"):
        super().__init__()
        self.Wqkv = nn.Linear(8, 24)
        self.attend = {
            "flash_attention_2": flash_attention_forward,
            "sdpa": sdpa_attention_forward,
        }[attn_implementation]

    def forward(self, hidden_states):
        qkv = self.Wqkv(hidden_states).unflatten(-1, (3, 8)).permute(2, 0, 1, 3)
        return self.attend(self, qkv)


def main(variant):
    model = ModernBertAttention("sdpa") if variant == "fixed" else ModernBertAttention()
    with torch.no_grad():
        model(torch.randn(2, 5, 8))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
