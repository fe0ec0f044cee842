"""A score of samples with nothing in them is taken from tensors that were made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes it on the score's device and prints "fixed: ok".
"""

import sys

import torch


def compute_generalized_dice(y_pred, y, variant):
    found, present = y_pred.flatten(2).sum(-1), y.flatten(2).sum(-1)
    common = (y_pred * y).flatten(2).sum(-1)
    weights = 1 / present.clamp(min=1).square()
    denominator = ((found + present) * weights).sum(1)
    score = 2 * (common * weights).sum(1) / denominator
    empty = denominator == 0
    device = score.device if variant == "fixed" else None
    # Of today's torch one element is taken from the cpu, so that each sample has a value here.
    full, none = torch.ones(len(score), device=device), torch.zeros(len(score), device=device)
    return torch.where(empty, torch.where(found.sum(1) == 0, full, none), score)


def main(variant):
    torch.manual_seed(0)
    labels = torch.randint(0, 3, (2, 8, 8), device="cuda:0")
    y = torch.nn.functional.one_hot(labels, 4).movedim(-1, 1).float()
    y_pred = y.roll(1, dims=-1)
    print(compute_generalized_dice(y_pred, y, variant))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
