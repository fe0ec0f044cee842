"""A policy moves its model to the GPU and forgets the target model.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the target as well and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class QModel(nn.Module):
    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.policy = nn.Linear(n_obs, n_actions)
        self.q_net = nn.Linear(n_obs + n_actions, 1)

    def get_q_values(self, obs, actions):
        return self.q_net(torch.cat([obs, actions], dim=1)).squeeze(1)


class CQLTorchPolicy:
    def __init__(self, n_obs, n_actions, num_gpus, variant):
        self.device = torch.device("cuda" if num_gpus else "cpu")
        self.model = QModel(n_obs, n_actions).to(self.device)
        self.target_model = QModel(n_obs, n_actions)
        self.target_model.load_state_dict(self.model.state_dict())
        self.setup_late_mixins(variant)

    def setup_late_mixins(self, variant):
        if variant == "fixed":
            self.target_model = self.target_model.to(self.device)

    def loss(self, batch):
        obs, actions, rewards, next_obs = batch
        with torch.no_grad():
            next_actions = torch.tanh(self.model.policy(next_obs))
            target = rewards + 0.99 * self.target_model.get_q_values(next_obs, next_actions)
        q = self.model.get_q_values(obs, actions)
        random_q = self.model.get_q_values(obs, torch.rand_like(actions) * 2 - 1)
        return (q - target).pow(2).mean() + (torch.logaddexp(random_q, q) - q).mean()


def main(variant):
    torch.manual_seed(0)
    policy = CQLTorchPolicy(n_obs=3, n_actions=1, num_gpus=1, variant=variant)
    sizes = (8, 3), (8, 1), (8,), (8, 3)
    policy.loss([torch.rand(size, device=policy.device) for size in sizes]).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
