"""A policy on the GPU gets a new action head when the horizon differs; the head stays on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the model after the head is in and prints "fixed: ok".
With an unchanged horizon nothing is recreated and nothing fails. The sizes are tiny.
"""

import sys
from types import SimpleNamespace

import torch
from torch import nn


class FlowmatchingActionHead(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.action_encoder = nn.Linear(config.width, config.width)

    def get_action(self, features):
        return self.action_encoder(features).unsqueeze(1).repeat(1, self.config.action_horizon, 1)


class GR00T(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.backbone = nn.Linear(4, config.width)
        self.action_head = FlowmatchingActionHead(config)

    def get_action(self, observations):
        return self.action_head.get_action(self.backbone(observations))


class Gr00tPolicy:
    def __init__(self, expected_action_horizon, device, variant):
        self.device = torch.device(device)
        self._load_model(expected_action_horizon, variant)

    def _load_model(self, expected_action_horizon, variant):
        model = GR00T(SimpleNamespace(width=8, action_horizon=16))
        model.eval()
        if variant == "failing":
            model.to(device=self.device)
        config = model.action_head.config
        if expected_action_horizon != config.action_horizon:
            config.action_horizon = expected_action_horizon
            new_action_head = FlowmatchingActionHead(config)
            new_action_head.load_state_dict(model.action_head.state_dict())
            model.action_head = new_action_head
        if variant == "fixed":
            model.to(device=self.device)
        self.model = model

    def get_action(self, observations):
        with torch.inference_mode():
            return self.model.get_action(observations.to(self.device))


def main(variant):
    torch.manual_seed(0)
    Gr00tPolicy(16, "cuda:0", variant).get_action(torch.rand(1, 4))
    Gr00tPolicy(8, "cuda:0", variant).get_action(torch.rand(1, 4))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
