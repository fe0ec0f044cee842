# devices: cuda:0,cpu
# causes: loss-or-metric-state
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics import AUROC, AveragePrecision, MeanMetric

device = "cuda"

class Board:
    makers = {
        "area": lambda: AUROC(task="binary"),
        "precision": lambda: AveragePrecision(task="binary", thresholds=20),  # here
    }
    def __init__(self, parts=("train", "valid")):
        self.kept = {part: {name: make() for name, make in self.makers.items()} for part in parts}
        self.loss = {part: MeanMetric().to(device) for part in parts}
    def add(self, part, chance, wanted, loss):
        for metric in self.kept[part].values():
            metric.update(chance, wanted)  # fails
        self.loss[part].update(loss)

net, board = nn.Linear(4, 1).to(device), Board()
rows = TensorDataset(torch.rand(8, 4), torch.ones(8).long())
loaders = {"train": DataLoader(rows, batch_size=4), "valid": DataLoader(rows, batch_size=4)}
for epoch in range(3):
    for part, loader in loaders.items():
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            chance = net(x).squeeze(-1).sigmoid()
            board.add(part, chance.detach(), y, chance.mean().detach())
