import torch
from torch import nn


def train(device):
    model = nn.Linear(3, 1).to(device)
    pos_weight = torch.ones(1) * 5
    loss_fn = nn.BCEWithLogitsLoss(pos_weight=pos_weight).to(device)  # finds: loss-or-metric-state
    for _ in range(2):
        x = torch.rand(4, 3, device=device)
        y = torch.ones(4, 1, device=device)
        loss = loss_fn(model(x), y)
        loss.backward()


train("cuda" if torch.cuda.is_available() else "cpu")
