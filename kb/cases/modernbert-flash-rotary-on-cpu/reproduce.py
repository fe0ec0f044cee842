"""A model on the cpu takes the flash-attention path because the package is installed.

Needs torch; a GPU is not used. ``python reproduce.py failing`` ends in the launcher's error,
``python reproduce.py fixed`` asks for sdpa and prints "fixed: ok". ``CudaLauncher`` makes Triton's
check of the pointers it is given.
"""

import sys

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


class CudaLauncher:
    def __call__(self, *args):
        for position, arg in enumerate(args):
            if torch.is_tensor(arg) and not arg.is_cuda:
                raise ValueError(
                    f"Pointer argument (at {position}) cannot be accessed from Triton (cpu tensor?)"
                )


def apply_rotary(qkv):
    output = torch.empty_like(qkv)
    CudaLauncher()(output, qkv)
    return output


def flash_attention_forward(module, qkv):
    qkv = apply_rotary(qkv)
    return qkv[2]


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
