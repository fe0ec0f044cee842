# devices: cuda:1,cuda:0
# causes: dataparallel-replica-state,unregistered-tensor
import torch
import torch.nn as nn

class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.cache = {}  # here

    def forward(self, x):
        n = x.shape[1]
        if n not in self.cache:
            t = torch.arange(n, device=x.device).float()
            self.cache[n] = torch.outer(t, torch.ones(self.dim, device=x.device))
        return x + self.cache[n]  # fails # here

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rot = Rotary(8)
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        return self.fc(self.rot(x))

net = nn.DataParallel(Net().cuda())
for _ in range(2):
    net(torch.rand(4, 3, 8).cuda())
