"""The process is not bound to its own GPU: what the worker of local rank 1 does."""

import torch
from torch import nn
from torch.nn import functional as F


def train_step(local_rank):
    model = nn.Linear(16, 3).to(f"cuda:{local_rank}")
    features = torch.randn(8, 16, device=f"cuda:{local_rank}")
    labels = torch.randint(3, (8,)).cuda()  # the process's current GPU
    F.cross_entropy(model(features), labels).backward()


def mistake(devices):
    """Nothing says which GPU is this process's, so .cuda() means the first."""
    train_step(local_rank=1)


def fixed(devices):
    """set_device comes before everything else."""
    torch.cuda.set_device(1)
    try:
        train_step(local_rank=1)
    finally:
        torch.cuda.set_device(0)  # for what else runs in this process
