"""A subset is shuffled under a default device of the accelerator, with a generator of the cpu.

Needs torch and one accelerator. ``python reproduce.py failing`` ends in the generator's error,
``python reproduce.py fixed`` makes the generator on the process's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset


class idist:
    @staticmethod
    def device():
        return torch.accelerator.current_accelerator()


def dist_data_loader(dataset, indexes, seed, variant):
    where = {"device": idist.device()} if variant == "fixed" else {"device": "cpu"}
    torch_rng = torch.Generator(**where)
    torch_rng.manual_seed(seed)
    sampler = SubsetRandomSampler(indexes, generator=torch_rng)
    return DataLoader(dataset, batch_size=4, sampler=sampler, generator=torch_rng)


def train(dataset, variant):
    model = nn.Linear(6, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for images, labels in dist_data_loader(dataset, list(range(0, 16, 2)), 1, variant):
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        optimizer.zero_grad()


def main(variant):
    torch.set_default_device(idist.device())
    try:
        train(TensorDataset(torch.randn(16, 6), torch.randint(2, (16,))), variant)
    finally:
        torch.set_default_device(None)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
