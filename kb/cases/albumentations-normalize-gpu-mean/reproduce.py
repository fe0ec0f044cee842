"""A NumPy transform was made with a mean that is on the GPU.

Needs torch, numpy and one GPU. ``python reproduce.py failing`` ends in the conversion error,
``python reproduce.py fixed`` gives it plain numbers and prints "fixed: ok". The transform works
as albumentations' Normalize; the loader has no workers, so that the traceback stays short.
"""

import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


def normalize(img, mean, std):
    mean = np.array(mean, dtype=np.float32)
    std = np.array(std, dtype=np.float32)
    return (img.astype(np.float32) - mean) / std


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def apply(self, image):
        return normalize(image, self.mean, self.std)


class Images(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.transform.apply(np.full((8, 8, 3), index, dtype=np.uint8))


def objective(variant):
    pixels = torch.rand(100, 3, device="cuda:0") * 255
    mean, std = pixels.mean(0), pixels.std(0)
    if variant == "fixed":
        mean, std = mean.tolist(), std.tolist()
    train_loader = DataLoader(Images(Normalize(mean, std)), batch_size=2)
    for batch_idx, data in enumerate(train_loader):
        assert data.shape == (2, 8, 8, 3), batch_idx
    return 0.0


def main(variant):
    objective(variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
