# devices: cuda:0,cpu
# causes: loss-or-metric-state,unregistered-tensor
import torch
import torch.nn as nn
import torch.nn.functional as F

class FocalLoss(nn.Module):
    def __init__(self, alpha, gamma=2.0):
        super().__init__()
        self.alpha = torch.tensor(alpha)  # here
        self.gamma = gamma
    def forward(self, logits, target):
        logp = F.log_softmax(logits, 1)
        ce = F.nll_loss(logp, target, reduction="none")
        pt = torch.exp(-ce)
        a = self.alpha[target]  # fails
        return (a * (1 - pt) ** self.gamma * ce).mean()

dev = torch.device("cuda")
net = nn.Linear(5, 3).to(dev)
crit = FocalLoss([0.2, 0.3, 0.5]).to(dev)
for _ in range(2):
    x, y = torch.randn(4, 5).to(dev), torch.randint(0, 3, (4,)).to(dev)
    crit(net(x), y).backward()
