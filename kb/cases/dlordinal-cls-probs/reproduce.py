"""A loss looks its soft labels up in a table that stayed on the cpu with it.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the loss and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class CustomTargetsLoss(nn.Module):
    """Cross entropy against a row of a table in place of a one-hot vector."""

    def __init__(self, soft_labels):
        super().__init__()
        self.register_buffer("soft_labels", soft_labels)

    def forward(self, scores, labels):
        wanted = self.soft_labels[labels]
        return -(wanted * scores.log_softmax(dim=1)).sum(dim=1).mean()


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model = nn.Linear(8, 4).to(device)
    distances = (torch.arange(4)[:, None] - torch.arange(4)).abs()
    loss_fn = CustomTargetsLoss((-distances.float()).softmax(dim=1))
    if variant == "fixed":
        loss_fn.to(device)
    y_pred = model(torch.randn(6, 8, device=device))
    loss_fn(y_pred, torch.randint(4, (6,), device=device)).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
