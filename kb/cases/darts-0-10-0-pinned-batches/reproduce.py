"""A dataset whose tensors are on the GPU is read by a loader that pins memory.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error about pinning,
``python reproduce.py fixed`` keeps the series on the host until the batch is used and prints
"fixed: ok".
"""

import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ShiftedDataset(Dataset):
    """Pairs of (past, future) from one series."""

    def __init__(self, series, length, device):
        self.series = series
        self.length = length
        self.device = device

    def __len__(self):
        return len(self.series) - 2 * self.length + 1

    def __getitem__(self, start):
        past = self.series[start : start + self.length]
        future = self.series[start + self.length : start + 2 * self.length]
        return torch.tensor(past).to(self.device), torch.tensor(future).to(self.device)


class NBEATSModel:
    def __init__(self, input_chunk_length, batch_size, variant):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.net = nn.Linear(input_chunk_length, input_chunk_length).to(self.device)
        self.input_chunk_length = input_chunk_length
        self.batch_size = batch_size
        self.variant = variant

    def fit(self, series):
        dataset = ShiftedDataset(
            series,
            self.input_chunk_length,
            "cpu" if self.variant == "fixed" else self.device,
        )
        loader = DataLoader(dataset, batch_size=self.batch_size, pin_memory=True)
        optimizer = torch.optim.Adam(self.net.parameters())
        for past, future in loader:
            past, future = past.to(self.device), future.to(self.device)
            loss = nn.functional.mse_loss(self.net(past), future)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def main(variant):
    air_passengers = np.sin(np.arange(40, dtype=np.float32))
    NBEATSModel(input_chunk_length=6, batch_size=8, variant=variant).fit(air_passengers)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
