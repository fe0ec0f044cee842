# devices: cuda:0,cpu
# causes: loss-or-metric-state
import torch
import torchmetrics
from torch import nn

class Runner:
    def __init__(self, n_classes, device):
        self.device = device
        self.model = nn.Linear(3, n_classes).to(device)
        self.acc = torchmetrics.Accuracy(task="multiclass", num_classes=n_classes)  # here

    def val(self, loader):
        for x, y in loader:
            x, y = x.to(self.device), y.to(self.device)
            self.acc.update(self.model(x), y)  # fails
        return self.acc.compute()

r = Runner(4, torch.device("cuda"))
r.val([(torch.randn(2, 3), torch.tensor([0, 1]))])
