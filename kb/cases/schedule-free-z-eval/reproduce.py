"""The second copy of the weights that a schedule-free optimizer keeps is on the cpu in eval().

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` loads the optimizer's state after the move and prints "fixed: ok".
``SGDScheduleFree`` has of its namesake the state z and the switch between the two sets of weights.
"""

import copy
import sys

import torch
from torch import nn


class SGDScheduleFree(torch.optim.Optimizer):
    def __init__(self, params, beta=0.9):
        super().__init__(params, {"beta": beta, "train_mode": True})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p].setdefault("z", p.detach().clone()).sub_(p.grad, alpha=0.1)

    @torch.no_grad()
    def eval(self):
        for group in self.param_groups:
            if group["train_mode"]:
                for p in group["params"]:
                    p.lerp_(self.state[p]["z"], 1 - 1 / group["beta"])
            group["train_mode"] = False


def checkpoint_of_training():
    model = nn.Linear(3, 1)
    optimizer = SGDScheduleFree(model.parameters())
    model(torch.randn(4, 3)).sum().backward()
    optimizer.step()
    return copy.deepcopy(optimizer.state_dict())


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model = nn.Linear(3, 1)
    optimizer = SGDScheduleFree(model.parameters())
    if variant == "fixed":
        model.to(device)
    optimizer.load_state_dict(checkpoint_of_training())
    model.to(device)
    optimizer.eval()
    model(torch.randn(1, 3, device=device))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
