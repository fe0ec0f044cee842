import numpy as np
import torch


class Walk:
    """Several walks at a time, in NumPy."""

    size = 6

    def __init__(self, count):
        self.count = count
        self.random = np.random.default_rng(0)

    def reset(self):
        return self.random.normal(size=(self.count, self.size))

    def step(self, actions):
        return self.random.normal(size=(self.count, self.size)), actions - 1.0


class TorchWalk:
    """The same with tensors."""

    def __init__(self, walk):
        self.walk = walk
        self.size = walk.size

    def reset(self):
        obs = self.walk.reset()
        obs = torch.from_numpy(obs).float()
        return obs

    def step(self, actions):
        actions = actions.squeeze(1).cpu().numpy()
        obs, reward = self.walk.step(actions)
        obs = torch.from_numpy(obs).float()
        reward = torch.from_numpy(np.expand_dims(reward, 1)).float()
        return obs, reward


def make_envs(count, device):
    envs = Walk(count)
    envs = TorchWalk(envs)
    return envs
