"""Preprocessing moves an alignment to the GPU, except in the branch for a single sequence.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the sequence in both branches and prints "fixed: ok".
Several sequences give statistics of their columns; one sequence takes a short cut. The features are
much reduced and the numbers random.
"""

import sys

import torch


def preprocess(seq_codes, device, variant):
    """One-hot codes of an alignment, and the statistics of its columns, as features."""
    if len(seq_codes) == 1:
        codes = torch.tensor(seq_codes)
        if variant == "fixed":
            codes = codes.to(device)
    else:
        codes = torch.tensor(seq_codes).to(device)
    f1d_seq = torch.eye(21, device=codes.device)[codes[0]]
    f1d_pssm = torch.full((f1d_seq.shape[0], 2), 0.5, device=device)
    return torch.cat((f1d_pssm, f1d_seq), dim=1)


def main(variant):
    device = torch.device("cuda:0")
    preprocess([[0, 4, 7, 20], [0, 4, 8, 20]], device, variant)
    print("two sequences: ok", file=sys.stderr)
    preprocess([[0, 4, 7, 20]], device, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
