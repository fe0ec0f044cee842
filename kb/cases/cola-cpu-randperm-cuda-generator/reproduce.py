"""A DataLoader draws the order of its samples on the cpu with a generator that is on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes a generator on the cpu and prints "fixed: ok".
"""

import sys

import torch
from torch.utils.data import DataLoader, TensorDataset


def main(variant):
    device = torch.device("cuda")
    # Right only after torch.set_default_device("cuda"): the sampler draws on the default device.
    generator = torch.Generator(device=device if variant == "failing" else "cpu")
    features = TensorDataset(torch.randn(8, 4), torch.arange(8) % 2)
    train_loader = DataLoader(features, batch_size=4, shuffle=True, generator=generator)
    loader_iter = iter(train_loader)
    data, label = next(loader_iter)
    assert data.to(device).is_cuda and len(label) == 4
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
