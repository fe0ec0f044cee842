"""Tensors that an optimizer keeps in its parameter groups come back on the cpu after a resume.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves them to the group's parameters and prints "fixed: ok".
``ProdigyPlusScheduleFree`` is a gradient descent with the two running tensors of its namesake.
"""

import io
import sys

import torch
from torch import nn

RUNNING = ("running_d_numerator", "running_d_denom")


class ProdigyPlusScheduleFree(torch.optim.Optimizer):
    def __init__(self, params, lr=1.0):
        super().__init__(params, {"lr": lr})
        for group in self.param_groups:
            device = group["params"][0].device
            group.update({name: torch.ones(1, device=device) for name in RUNNING})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            gradients = torch.stack([p.grad.norm() for p in group["params"]])
            group["running_d_denom"].add_(gradients.sum())
            d = group["running_d_numerator"] / group["running_d_denom"]
            for p in group["params"]:
                p.sub_(d * p.grad)


def resume(optimizer, variant):
    """Saves and reads the state as accelerate does: the file is mapped to the cpu."""
    state = io.BytesIO()
    torch.save(optimizer.state_dict(), state)
    state.seek(0)
    optimizer.load_state_dict(torch.load(state, map_location="cpu"))
    if variant == "fixed":
        for group in optimizer.param_groups:
            group.update({name: group[name].to(group["params"][0].device) for name in RUNNING})


def train(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    network = nn.Linear(4, 4).to(device)
    optimizer = ProdigyPlusScheduleFree(network.parameters())
    resume(optimizer, variant)
    loss = network(torch.randn(2, 4, device=device)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(f"{variant}: ok")


if __name__ == "__main__":
    train(sys.argv[1])
