"""A policy on the GPU gets a new action head when the horizon differs; the head stays on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the model after the head is in and prints "fixed: ok".
With an unchanged horizon nothing is made anew and nothing fails. The sizes are tiny.
"""

import sys

import torch
from torch import nn

CHECKPOINT_HORIZON = 16


class ActionHead(nn.Module):
    def __init__(self, horizon, width=8):
        super().__init__()
        self.horizon = horizon
        self.decoder = nn.Linear(width, 2)

    def forward(self, features):
        return self.decoder(features).expand(self.horizon, -1)


class VisionLanguageAction(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.backbone = nn.Linear(4, width)
        self.action_head = ActionHead(CHECKPOINT_HORIZON, width)

    def forward(self, observation):
        return self.action_head(self.backbone(observation))


def with_horizon(model, horizon):
    """The weights do not depend on the horizon, so a new head takes those of the old one."""
    head = ActionHead(horizon)
    head.load_state_dict(model.action_head.state_dict())
    model.action_head = head


def load_policy(horizon, device, variant):
    model = VisionLanguageAction().eval()
    if variant == "failing":
        model.to(device)
    if horizon != CHECKPOINT_HORIZON:
        with_horizon(model, horizon)
    if variant == "fixed":
        model.to(device)
    return model


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    observation = torch.rand(1, 4, device=device)
    with torch.inference_mode():
        for horizon in (CHECKPOINT_HORIZON, 8):
            actions = load_policy(horizon, device, variant)(observation)
            print("actions", tuple(actions.shape), file=sys.stderr)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
