import numpy as np
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.net = nn.Linear(4, 1).to("cuda")
        self.losses = []

    def play(self, rows):
        for row in rows:
            self.losses.append(self.net(row.to("cuda")).sum())  # finds: host-copy-needed
        torch.stack(self.losses).sum().backward()
        self.losses.clear()


agent = Agent()
agent.play(torch.rand(3, 4))
if agent.losses:
    print(np.mean(agent.losses))
