"""The counts of a metric are on the cpu, the predictions that are to be counted on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's device error, around which
torchmetrics puts a sentence of its own; ``python reproduce.py fixed`` moves the metric and prints
"fixed: ok". A count of right answers for each class stands for the metric's state.
"""

import sys

import torch
from torch import nn


class Accuracy(nn.Module):
    """Right answers and answers in all, for each class; buffers, as any module's state."""

    def __init__(self, classes):
        super().__init__()
        self.register_buffer("right", torch.zeros(classes))
        self.register_buffer("seen", torch.zeros(classes))

    def update(self, guesses, labels):
        hits = (guesses == labels).float()
        self.right.index_add_(0, labels, hits)
        self.seen.index_add_(0, labels, torch.ones_like(hits))

    def forward(self, scores, labels):
        self.update(scores.argmax(dim=1), labels)
        return self.right.sum() / self.seen.sum()


def main(variant):
    torch.manual_seed(0)
    scores = torch.rand(6, 3).cuda()
    labels = torch.randint(3, (6,)).cuda()
    accuracy = Accuracy(classes=3)
    if variant == "fixed":
        accuracy.to(scores.device)
    accuracy(scores, labels)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
