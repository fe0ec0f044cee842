# devices: cpu,cuda:0
# causes: loss-or-metric-state,module-not-moved
import torch
import torch.nn as nn

class CenterLoss(nn.Module):
    def __init__(self, num_classes, feat_dim):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(num_classes, feat_dim))
    def forward(self, x, labels):
        c = self.centers.index_select(0, labels)  # fails
        return (x - c).pow(2).sum(1).mean()

def train(model, loader, args):
    model.to(args.device)
    center = CenterLoss(10, 64)  # here
    ce = nn.CrossEntropyLoss()
    for x, y in loader:
        x, y = x.to(args.device), y.to(args.device)
        f = model(x)
        loss = ce(f, y) + 0.1 * center(f, y)
        loss.backward()
train(nn.Linear(4, 64), [(torch.rand(2, 4), torch.tensor([1, 2]))], type("A", (), {"device": "cuda"}))
