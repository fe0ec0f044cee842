"""Offsets of packed sequences are made on "cuda", and all else is on another kind of device.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the device of the mask and prints "fixed: ok".
The cpu stands for the other kind of device; with no GPU at all torch says that there is none.
"""

import sys

import torch


def get_cu_seqlens(text_mask, img_len, variant):
    batch_size, max_len = text_mask.shape[0], text_mask.shape[1] + img_len
    text_len = text_mask.sum(dim=1)
    device = text_mask.device if variant == "fixed" else "cuda"
    cu_seqlens = torch.zeros(2 * batch_size + 1, dtype=torch.long, device=device)
    for i in range(batch_size):
        cu_seqlens[2 * i + 1] = i * max_len + text_len[i] + img_len
        cu_seqlens[2 * i + 2] = (i + 1) * max_len
    return cu_seqlens


def first_of_each(hidden_states, cu_seqlens):
    return hidden_states[cu_seqlens[:-1:2]]


def main(variant):
    device = torch.device("cpu")
    text_mask = torch.tensor([[1, 1, 0], [1, 0, 0]], device=device)
    hidden_states = torch.randn(14, 8, device=device)
    print(first_of_each(hidden_states, get_cu_seqlens(text_mask, 4, variant)).shape)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
