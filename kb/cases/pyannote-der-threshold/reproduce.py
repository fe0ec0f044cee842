"""A metric wraps its threshold in a tensor that has the predictions' dtype, but not their device.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the device from the predictions and prints "fixed: ok".
"""

import itertools
import sys

import torch


def permutate(target, preds):
    """Predictions of each sample with their speakers in the order that fits the target best."""
    orders = list(itertools.permutations(range(preds.shape[1])))
    errors = torch.stack([(preds[:, list(o)] - target).abs().sum((1, 2)) for o in orders])
    return torch.stack([preds[i, list(orders[k])] for i, k in enumerate(errors.argmin(0).tolist())])


def der_update(preds, target, threshold, variant):
    scalar_threshold = isinstance(threshold, float)
    if scalar_threshold:
        where = {"device": preds.device} if variant == "fixed" else {}
        threshold = torch.tensor([threshold], dtype=preds.dtype, **where)
    aligned = permutate(target, preds)
    active = aligned[..., None] > threshold
    wrong = active != target.bool()[..., None]
    return wrong.sum((0, 1, 2)) / target.sum()


def main(variant):
    torch.manual_seed(0)
    target = (torch.rand(2, 3, 50, device="cuda") > 0.7).float()
    preds = torch.rand(2, 3, 50, device="cuda")
    rate = der_update(preds, target, 0.5, variant)
    assert rate.is_cuda
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
