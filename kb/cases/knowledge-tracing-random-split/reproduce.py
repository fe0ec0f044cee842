"""random_split draws with the cpu's generator while new tensors go to the GPU by default.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` gives random_split a generator on the GPU and prints "fixed: ok".
"""

import sys

import torch
from torch.utils.data import TensorDataset, random_split


def main(variant):
    torch.set_default_device("cuda")
    dataset = TensorDataset(torch.arange(20), torch.arange(20) % 2)
    train_size = int(len(dataset) * 0.9)
    lengths = [train_size, len(dataset) - train_size]

    if variant == "failing":
        train_dataset, test_dataset = random_split(dataset, lengths)
    else:
        generator = torch.Generator(device="cuda").manual_seed(0)
        train_dataset, test_dataset = random_split(dataset, lengths, generator=generator)
    assert len(train_dataset) == 18 and len(test_dataset) == 2
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
