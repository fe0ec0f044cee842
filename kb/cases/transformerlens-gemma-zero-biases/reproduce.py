"""Biases that a model does not have are filled in with zeros on the cpu while it is converted.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the zeros beside the weights and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class GemmaAttention(nn.Module):
    """Like Gemma's: no projection has a bias."""

    def __init__(self, n_heads, d_head, d_model):
        super().__init__()
        self.v_proj = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.o_proj = nn.Linear(n_heads * d_head, d_model, bias=False)


def convert_gemma_weights(attention, n_heads, d_head, variant):
    d_model = attention.v_proj.in_features
    W_V = attention.v_proj.weight.detach().view(n_heads, d_head, d_model).transpose(1, 2)
    W_O = attention.o_proj.weight.detach().view(d_model, n_heads, d_head).permute(1, 2, 0)
    device = W_V.device if variant == "fixed" else None
    return {
        "W_V": W_V,
        "b_V": torch.zeros(n_heads, d_head, device=device),
        "W_O": W_O,
        "b_O": torch.zeros(d_model, device=device),
    }


def fold_value_biases(state_dict):
    """Moves the value biases through W_O into the output bias."""
    per_head = state_dict["W_O"] * state_dict["b_V"].unsqueeze(-1)
    state_dict["b_O"] += per_head.flatten(0, 1).sum(0)
    state_dict["b_V"].zero_()
    return state_dict


def main(variant):
    hf_model = GemmaAttention(n_heads=2, d_head=4, d_model=8).to("cuda:0")
    state_dict = convert_gemma_weights(hf_model, 2, 4, variant)
    fold_value_biases(state_dict)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
