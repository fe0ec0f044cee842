import torch
from torch import nn


class Base(nn.Module):
    def __init__(self, inputs, hidden=16):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh())
        self.critic_linear = nn.Linear(hidden, 1)

    def forward(self, inputs):
        x = inputs
        hidden_critic = self.critic(x)
        hidden_actor = self.actor(x)
        return self.critic_linear(hidden_critic), hidden_actor


class Policy(nn.Module):
    def __init__(self, inputs, actions):
        super().__init__()
        self.base = Base(inputs)
        self.linear = nn.Linear(16, actions)

    def act(self, inputs, deterministic=False):
        value, features = self.base(inputs)
        scores = self.linear(features)
        if deterministic:
            action = scores.argmax(dim=1, keepdim=True)
        else:
            action = torch.multinomial(scores.softmax(dim=1), 1)
        return value, action

    def value(self, inputs):
        return self.base(inputs)[0]
