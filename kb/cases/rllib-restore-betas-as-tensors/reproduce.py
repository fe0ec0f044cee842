"""A restored learner turns the optimizer's betas into tensors on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error about scalars on the GPU,
``python reproduce.py fixed`` makes the betas numbers again after the restore and prints "fixed: ok".
``TorchLearner`` is RLlib's in a few lines: its state travels as NumPy arrays and comes back through
one conversion that knows nothing of settings. ``Adam`` calls torch's kernels as the one of torch 2.0
did; today's refuses such betas before.
"""

import sys

import numpy as np
import torch
from torch import nn

DEVICE = torch.device("cuda:0")


def convert_to_torch_tensor(state):
    if isinstance(state, dict):
        return {key: convert_to_torch_tensor(value) for key, value in state.items()}
    if isinstance(state, tuple):
        return tuple(convert_to_torch_tensor(value) for value in state)
    return torch.as_tensor(state, device=DEVICE)


class Adam:
    def __init__(self, params, lr, betas=(0.9, 0.999)):
        self.params = list(params)
        self.state = {"lr": np.float64(lr), "betas": tuple(map(np.float64, betas))}
        self.exp_avg_sqs = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def step(self):
        beta2 = self.state["betas"][1]
        grads = [p.grad for p in self.params]
        torch._foreach_mul_(self.exp_avg_sqs, beta2)
        torch._foreach_addcmul_(self.exp_avg_sqs, grads, grads, 1 - beta2)
        for p, square in zip(self.params, self.exp_avg_sqs, strict=True):
            p.sub_(self.state["lr"] * p.grad / (square.sqrt() + 1e-8))


class TorchLearner:
    def __init__(self):
        self.module = nn.Linear(4, 2).to(DEVICE)
        self.optim = Adam(self.module.parameters(), lr=1e-3)

    def set_state(self, state):
        self.optim.state = convert_to_torch_tensor(state)

    def apply_gradients(self):
        self.module(torch.randn(8, 4, device=DEVICE)).pow(2).mean().backward()
        self.optim.step()


def main(variant):
    torch.manual_seed(0)
    algo, restored = TorchLearner(), TorchLearner()
    algo.apply_gradients()
    restored.set_state(algo.optim.state)
    if variant == "fixed":
        restored.optim.state["betas"] = tuple(map(float, restored.optim.state["betas"]))
    restored.apply_gradients()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
