"""Scores that were collected on the GPU are given to a metric that works on NumPy arrays.

Needs torch, numpy and one GPU. ``python reproduce.py failing`` ends in the conversion error,
``python reproduce.py fixed`` copies to the cpu first and prints "fixed: ok". ``roc_curve`` begins
as scikit-learn's does, by asking what kind of target it got.
"""

import sys

import numpy as np
import torch


def type_of_target(y):
    y = np.asarray(y)
    return "binary" if len(np.unique(y)) <= 2 else "multiclass"


def roc_curve(y_true, y_score):
    assert type_of_target(y_true) == "binary"
    order = np.argsort(-np.asarray(y_score))
    hits = np.asarray(y_true)[order]
    return np.cumsum(1 - hits) / max(1, (1 - hits).sum()), np.cumsum(hits) / max(1, hits.sum())


def roc(labels, scores):
    fpr, tpr = roc_curve(labels, scores)
    return np.trapezoid(tpr, fpr)


def evaluate(labels, scores, variant):
    if variant == "fixed":
        labels, scores = labels.cpu(), scores.cpu()
    return roc(labels, scores)


class Ganomaly:
    def __init__(self, device):
        self.device = device

    def test(self, variant):
        gt_labels = torch.randint(2, (32,), device=self.device)
        an_scores = torch.rand(32, device=self.device)
        return evaluate(gt_labels, an_scores, variant)


def main(variant):
    Ganomaly(torch.device("cuda:0")).test(variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
