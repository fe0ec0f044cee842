import copy

import torch
from controls.api import takes_arrays
from torch import nn


class Critic(nn.Module):
    def __init__(self, obs_size, action_size):
        super().__init__()
        self.layer = nn.Linear(obs_size + action_size, 1)

    def forward(self, obs, action):
        return self.layer(torch.cat([obs, action], dim=1))


class DDPG:
    def __init__(self, obs_size, action_size):
        self.device = "cuda:0" if torch.cuda.is_available() else "cpu"
        self.policy = nn.Sequential(nn.Linear(obs_size, action_size), nn.Tanh()).to(self.device)
        self.critic = Critic(obs_size, action_size).to(self.device)
        self.target_policy = copy.deepcopy(self.policy)
        self.target_critic = copy.deepcopy(self.critic)
        self.optimizer = torch.optim.Adam(self.critic.parameters())

    @takes_arrays
    def update_critic(self, obs, action, reward, following, ends):
        target = reward + 0.9 * self.compute_target(following) * (1.0 - ends)
        loss = (self.critic(obs, action) - target).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.cpu().detach().numpy()

    def compute_target(self, x):
        with torch.no_grad():
            return self.target_critic(x, self.target_policy(x))
