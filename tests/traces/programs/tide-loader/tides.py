"""Predicts tides; everything is made on the GPU by default."""

import sys

import torch
from IPython.core.ultratb import FormattedTB
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

sys.excepthook = FormattedTB(mode="Context", theme_name="nocolor")
torch.set_default_device("cuda")


def main():
    heights = torch.sin(torch.arange(0, 50, 0.1))
    windows = heights.unfold(0, 20, 1)
    loader = DataLoader(
        TensorDataset(windows[:, :-1], windows[:, -1:]), batch_size=32, shuffle=True
    )
    model = nn.Linear(19, 1)
    for past, following in loader:
        nn.functional.mse_loss(model(past), following).backward()


if __name__ == "__main__":
    main()
