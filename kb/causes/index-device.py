"""The index is not on the indexed tensor's device: GPU indices into a memory bank on the cpu."""

import torch


def mistake(devices):
    """The memory bank is on the cpu, the indices come from a GPU operation."""
    bank = torch.randn(100, 16)
    scores = torch.randn(4, 100, device=devices[0])
    nearest = scores.topk(5).indices
    return bank[nearest]


def fixed(devices):
    """The indices go to the bank; what they select goes on to the GPU."""
    bank = torch.randn(100, 16)
    scores = torch.randn(4, 100, device=devices[0])
    nearest = scores.topk(5).indices
    return bank[nearest.to(bank.device)].to(scores.device)
