"""Adam of torch 1.12.0 loads its step counters onto the GPU and then refuses them there.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the optimizer's assertion,
``python reproduce.py fixed`` sets capturable after loading and prints "fixed: ok".
``Adam`` has what matters of 1.12.0: load_state_dict moves every tensor to its parameter's device,
and step() wants the counter on the cpu unless the group is capturable.
"""

import copy
import sys

import torch
from torch import nn


class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, capturable=False):
        super().__init__(params, {"lr": lr, "capturable": capturable})

    def load_state_dict(self, state_dict):
        parameters = [p for group in self.param_groups for p in group["params"]]
        for index, state in state_dict["state"].items():
            p = parameters[index]
            self.state[p] = {key: value.to(p.device) for key, value in state.items()}

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state.update(step=torch.tensor(0.0), exp_avg=torch.zeros_like(p))
                step_t = state["step"]
                assert group["capturable"] or not step_t.is_cuda, (
                    "If capturable=False, state_steps should not be CUDA tensors."
                )
                step_t += 1
                state["exp_avg"].lerp_(p.grad, 0.1)
                p.sub_(group["lr"] * state["exp_avg"] / (1 - 0.9**step_t))


def learn(policy, optimizer):
    optimizer.zero_grad()
    policy(torch.randn(8, 4, device="cuda")).pow(2).mean().backward()
    optimizer.step()


def main(variant):
    torch.manual_seed(0)
    policy = nn.Linear(4, 2).cuda()
    optimizer = Adam(policy.parameters())
    learn(policy, optimizer)
    saved = copy.deepcopy(optimizer.state_dict())

    resumed = Adam(policy.parameters())
    resumed.load_state_dict(saved)
    if variant == "fixed":
        resumed.param_groups[0]["capturable"] = True
    learn(policy, resumed)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
