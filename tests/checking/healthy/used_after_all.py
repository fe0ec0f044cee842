# What a class is tried with afterwards says nothing of where the program keeps its objects.
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Linear(4, 2)

    def forward(self, x):
        return self.act(x)


class Agent:
    def __init__(self):
        self.policy = Policy()

    def select(self, state):
        state = torch.from_numpy(state).float()
        return self.policy(state).argmax().item()


agent = Agent()
print(sum(p.numel() for p in agent.policy.parameters()))
