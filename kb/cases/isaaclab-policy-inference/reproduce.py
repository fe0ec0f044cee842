"""A saved policy is loaded on the cpu and asked about observations of an environment on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the policy to the environment's device and prints "fixed: ok".
The policy stands for one loaded from a file, the environment for a simulator; both are random.
"""

import argparse
import sys

import torch
from torch import nn


class Environment:
    """Steps of a simulator whose observations are born on its own device."""

    def __init__(self, device, num_envs=4):
        self.device, self.num_envs = torch.device(device), num_envs

    def reset(self):
        return {"policy": torch.rand(self.num_envs, 12, device=self.device)}

    def step(self, action):
        assert action.device == self.device
        return {"policy": torch.rand(self.num_envs, 12, device=self.device)}


def load_policy():
    return nn.Sequential(nn.Linear(12, 8), nn.ELU(), nn.Linear(8, 3)).eval()


def main(args):
    torch.manual_seed(0)
    env = Environment(args.device)
    policy = load_policy()
    if args.variant == "fixed":
        policy = policy.to(args.device)
    obs = env.reset()
    with torch.inference_mode():
        for _ in range(2):
            action = policy(obs["policy"])
            obs = env.step(action)
    print(f"{args.variant}: ok")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("variant")
    parser.add_argument("--device", default="cuda:0")
    main(parser.parse_args(sys.argv[1:]))
