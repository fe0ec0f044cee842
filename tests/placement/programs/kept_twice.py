# devices: cpu,cuda:0
# causes: loss-or-metric-state,unregistered-tensor
import lightning as L
import torch
import torch.nn.functional as F
from torch import nn

class Rows(L.LightningDataModule):
    def __init__(self):
        super().__init__()
        self.shares = torch.tensor([0.2, 0.8])

class WeightedLoss(nn.Module):
    def __init__(self, shares=None):
        super().__init__()
        self.shares = shares  # here

    def forward(self, out, y):
        return F.cross_entropy(out, y, weight=self.shares)  # fails

class Churn(nn.Module):
    def __init__(self, shares):
        super().__init__()
        self.body = nn.Linear(3, 2)
        self.loss = WeightedLoss(shares)

    def forward(self, x, y):
        return self.loss(self.body(x), y)

rows = Rows()
churn = Churn(rows.shares).to("cuda")
churn(torch.rand(4, 3).to("cuda"), torch.ones(4, dtype=torch.long).to("cuda"))
