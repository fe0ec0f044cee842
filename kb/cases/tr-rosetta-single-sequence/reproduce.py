"""Preprocessing moves an alignment to the GPU, except in the branch for a single sequence.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the sequence in both branches and prints "fixed: ok".
Several sequences give a profile of their columns; for one sequence there is a short cut. The
features are much reduced.
"""

import sys

import torch

LETTERS = 21


def profile(codes):
    """How often each letter stands in each column."""
    return torch.nn.functional.one_hot(codes, LETTERS).float().mean(dim=0)


def features(rows, device, variant):
    codes = torch.tensor(rows)
    if len(rows) > 1 or variant == "fixed":
        codes = codes.to(device)
    position = torch.linspace(0, 1, codes.shape[1], device=device)
    return torch.cat((position[:, None], profile(codes)), dim=1)


def main(variant):
    device = torch.device("cuda:0")
    features([[0, 4, 7, 20], [0, 4, 8, 20]], device, variant)
    print("two sequences: ok", file=sys.stderr)
    features([[0, 4, 7, 20]], device, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
