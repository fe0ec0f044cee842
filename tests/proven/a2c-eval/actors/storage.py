import torch


class Steps:
    """What was seen, done and earned."""

    def __init__(self, steps, count, size):
        self.obs = torch.zeros(steps + 1, count, size)
        self.rewards = torch.zeros(steps, count, 1)
        self.actions = torch.zeros(steps, count, 1).long()

    def to(self, device):
        self.obs = self.obs.to(device)
        self.rewards = self.rewards.to(device)
        self.actions = self.actions.to(device)

    def insert(self, step, obs, reward, action):
        self.obs[step + 1].copy_(obs)
        self.rewards[step].copy_(reward)
        self.actions[step].copy_(action)
