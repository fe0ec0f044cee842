# devices: cuda:0,cpu
# causes: input-not-moved
import gymnasium as gym
import torch
from torch import nn

class Policy(nn.Module):
    def __init__(self, o, a):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(o, 32), nn.Tanh(), nn.Linear(32, a))
    def forward(self, x):
        return torch.distributions.Categorical(logits=self.net(x))  # fails

def rollout(env, policy, n):
    obs, _ = env.reset()
    for _ in range(n):
        state = torch.from_numpy(obs).float()  # here
        action = policy(state).sample()  # fails
        obs, r, done, trunc, _ = env.step(action.item())

device = torch.device("cuda")
env = gym.make("CartPole-v1")
policy = Policy(4, 2).to(device)
rollout(env, policy, 10)
