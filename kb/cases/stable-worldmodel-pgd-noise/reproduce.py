"""A planner's noise is drawn with a generator on the GPU into a tensor on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about the generator,
``python reproduce.py fixed`` draws it on the batch's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class PGDSolver:
    def __init__(self, model, n_steps, action_noise, device, variant):
        self.model = model
        self.n_steps = n_steps
        self.action_noise = action_noise
        self.torch_gen = torch.Generator(device=device).manual_seed(1234)
        self.device = device
        self.variant = variant

    def init_actions(self, shape):
        return torch.randn(shape, generator=self.torch_gen, device=self.device).softmax(dim=-1)

    def solve(self, state, horizon, n_actions):
        batch_init = self.init_actions((len(state), horizon, n_actions)).requires_grad_()
        for _ in range(self.n_steps):
            cost = self.model(state, batch_init).sum()
            (gradient,) = torch.autograd.grad(cost, batch_init)
            with torch.no_grad():
                batch_init -= 0.1 * gradient
                if self.action_noise > 0:
                    device = batch_init.device if self.variant == "fixed" else None
                    noise = torch.randn(batch_init.shape, generator=self.torch_gen, device=device)
                    batch_init += self.action_noise * noise
        return batch_init.argmax(dim=-1)


class WorldModel(nn.Module):
    def __init__(self, n_actions, n_state):
        super().__init__()
        self.step = nn.Linear(n_actions + n_state, n_state)

    def forward(self, state, actions):
        for action in actions.unbind(dim=1):
            state = self.step(torch.cat([state, action], dim=1))
        return state.pow(2).sum(dim=1)


def main(variant):
    device = torch.device("cuda")
    solver = PGDSolver(WorldModel(3, 4).to(device), 2, 0.05, device, variant)
    print(solver.solve(torch.randn(2, 4, device=device), horizon=3, n_actions=3))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
