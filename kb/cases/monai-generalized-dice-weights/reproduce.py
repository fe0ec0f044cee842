"""A score fills empty classes from a tensor that was made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes it on the score's device and prints "fixed: ok".
"""

import sys

import torch


def compute_generalized_dice(y_pred, y, variant):
    reduce_axis = list(range(2, y_pred.dim()))
    intersection = torch.sum(y_pred * y, dim=reduce_axis)
    y_o = torch.sum(y, dim=reduce_axis)
    y_pred_o = torch.sum(y_pred, dim=reduce_axis)

    w = torch.reciprocal(y_o * y_o)
    for b in w:
        infs = torch.isinf(b)
        b[infs] = 0
        b[infs] = torch.max(b)

    numer = 2.0 * torch.sum(intersection * w, dim=1)
    denom = torch.sum((y_o + y_pred_o) * w, dim=1)
    device = numer.device if variant == "fixed" else None
    if_empty = torch.ones(len(numer), device=device)
    return torch.where(denom > 0, numer / denom, if_empty)


def main(variant):
    torch.manual_seed(0)
    labels = torch.randint(0, 3, (2, 8, 8), device="cuda:0")
    y = torch.nn.functional.one_hot(labels, 4).movedim(-1, 1).float()
    y_pred = y.roll(1, dims=-1)
    print(compute_generalized_dice(y_pred, y, variant))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
