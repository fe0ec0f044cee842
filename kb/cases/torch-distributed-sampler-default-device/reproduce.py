"""DistributedSampler's own generator meets cuda as the default device.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about the generator,
``python reproduce.py fixed`` sets the current GPU and leaves the default device alone, and prints
"fixed: ok". One process of two is played; the sampler needs no process group for that.
"""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def setup(local_rank, variant):
    device = torch.device("cuda", local_rank)
    torch.cuda.set_device(local_rank)
    if variant == "failing":
        torch.set_default_device(device)
    return device


def main(variant):
    torch.manual_seed(0)
    dataset = TensorDataset(torch.randn(8, 4), torch.randint(2, (8,)))
    device = setup(local_rank=0, variant=variant)
    sampler = DistributedSampler(dataset, num_replicas=2, rank=0, shuffle=True)
    loader = DataLoader(dataset, batch_size=2, sampler=sampler)
    model = nn.Linear(4, 2, device=device)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            nn.functional.cross_entropy(model(x.to(device)), y.to(device)).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
