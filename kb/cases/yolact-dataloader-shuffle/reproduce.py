"""A shuffling DataLoader makes its generator on the cpu while new tensors go to the GPU by default.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` gives the loader a generator on the GPU and prints "fixed: ok".
"""

import sys

import torch
from torch.utils.data import DataLoader, Dataset


class COCODetection(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.full((3, 4, 4), float(index)), torch.tensor(index)


def train(variant):
    torch.set_default_device("cuda")
    options = {}
    if variant == "fixed":
        options["generator"] = torch.Generator(device="cuda")
    data_loader = DataLoader(COCODetection(), batch_size=4, shuffle=True, **options)
    for images, targets in data_loader:
        assert images.is_cuda and len(targets) == 4
    print(f"{variant}: ok")


if __name__ == "__main__":
    train(sys.argv[1])
