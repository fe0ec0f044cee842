# spot: torch.zeros(n)
# devices: ;
# wanted: cuda:0
import torch


def table(n):
    return torch.zeros(n)
