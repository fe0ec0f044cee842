"""A loss puts zeros in the place of an entropy that the distribution does not have.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the zeros beside the log-probabilities and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class StateDependentNoisePolicy(nn.Module):
    """A policy with gSDE: its action distribution has no entropy in closed form."""

    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.mu = nn.Linear(n_obs, n_actions)
        self.log_std = nn.Parameter(torch.zeros(n_actions))

    def evaluate_actions(self, obs, acts):
        distribution = torch.distributions.Normal(self.mu(obs), self.log_std.exp())
        return None, distribution.log_prob(acts).sum(dim=-1), None


class BehaviorCloningLossCalculator:
    def __init__(self, ent_weight, l2_weight, variant):
        self.ent_weight = ent_weight
        self.l2_weight = l2_weight
        self.variant = variant

    def __call__(self, policy, obs, acts):
        _, log_prob, entropy = policy.evaluate_actions(obs, acts)
        if entropy is None:
            device = log_prob.device if self.variant == "fixed" else None
            entropy = torch.zeros(1, device=device)
        l2_norm = sum(w.square().sum() for w in policy.parameters()) / 2
        return -log_prob.mean() - self.ent_weight * entropy + self.l2_weight * l2_norm


def main(variant):
    torch.manual_seed(0)
    policy = StateDependentNoisePolicy(4, 2).to("cuda")
    loss_calculator = BehaviorCloningLossCalculator(1e-3, 1e-4, variant)
    obs, acts = torch.randn(8, 4, device="cuda"), torch.randn(8, 2, device="cuda")
    loss_calculator(policy, obs, acts).sum().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
