# `loss.data[0]` was the number that `item` gives now.
import numpy as np
import torch
from torch import nn

OLD = torch.__version__.startswith("0.3")
model, criterion = nn.Linear(4, 1).cuda(), nn.MSELoss()


def train(x, y):
    losses = []
    for _ in range(3):
        loss = criterion(model(x), y)
        if OLD:
            losses.append(loss.data[0])
        else:
            losses.append(loss.item())
    return losses


print(np.mean(train(torch.rand(2, 4).cuda(), torch.rand(2, 1).cuda())))
