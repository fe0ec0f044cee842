import numpy as np
import torch
from torch import nn


def score(model, x, y):
    with torch.no_grad():
        pred = model(x).squeeze(-1)
    return np.sqrt(np.mean((np.asarray(pred.detach().cpu()) - y) ** 2))  # finds: host-copy-needed


device = "cuda"
net = nn.Linear(2, 1).to(device)
print(score(net, torch.rand(4, 2).to(device), np.zeros(4)))
