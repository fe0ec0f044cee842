import os

import torch
from torch import nn


class Process:
    def __init__(self, env):
        self.rank = int(env.get("RANK", 6))
        self.local_rank = int(env.get("LOCAL_RANK", 2))
        self.first = self.rank == 0

    def device(self):
        return torch.device("cuda", self.rank)  # finds: rank-device


process = Process(os.environ)
net = nn.Linear(4, 2).to(process.device())
loss = net(torch.rand(8, 4, device=process.device())).square().mean()
print(process.local_rank, loss.item())
