import torch, torch.nn as nn

class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.branches = nn.ModuleList((nn.Conv1d(3, 3, 1), nn.Conv1d(3, 3, 3, padding=1)))  # finds: unregistered-submodule
        self.merge = nn.Conv1d(6, 3, 1)
    def forward(self, x):
        return self.merge(torch.cat([b(x) for b in self.branches], dim=1))

dev = torch.device('cuda:0')
m = Multi().to(dev)
y = m(torch.zeros(1, 3, 7).to(dev))
