# devices: cuda:0
# causes: host-copy-needed
import numpy as np
import torch

class Tracker:
    def __init__(self):
        self.vals = []
    def add(self, v):
        self.vals.append(v)
    def mean(self):
        return np.mean(self.vals)  # fails

t = Tracker()
net = torch.nn.Linear(2, 1).cuda()
for _ in range(3):
    loss = net(torch.rand(4, 2).cuda()).pow(2).mean()
    t.add(loss.detach())  # here
print(t.mean())
