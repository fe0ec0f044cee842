"""Training meters are added up in NumPy from numbers that are still on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error about NumPy,
``python reproduce.py fixed`` copies the accuracies to the host and prints "fixed: ok".
"""

import sys

import numpy as np
import torch
from torch import nn


class HierVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(6, 4)
        self.topo = nn.Linear(4, 3)

    def forward(self, x, target):
        z = self.encoder(x)
        logits = self.topo(z)
        loss = nn.functional.cross_entropy(logits, target)
        kl_div = z.pow(2).mean().item()
        wacc = (logits.argmax(dim=1) == target).float().mean()
        tacc = (logits.topk(2, dim=1).indices == target[:, None]).any(dim=1).float().mean()
        return loss, kl_div, wacc, tacc


def main(variant):
    torch.manual_seed(0)
    model = HierVAE().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    meters = np.zeros(4)
    for _ in range(2):
        x, target = torch.randn(5, 6).cuda(), torch.randint(3, (5,)).cuda()
        loss, kl_div, wacc, tacc = model(x, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if variant == "fixed":
            wacc, tacc = wacc.cpu(), tacc.cpu()
        numbers = [kl_div, loss.item(), wacc, tacc]
        meters += np.array(numbers)
    print("means of two batches:", meters / 2)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
