"""An optimizer whose kernel runs on GPUs only is given the parameters that ZeRO keeps on the cpu.

Needs torch, apex's compiled ``amp_C`` (simulated GPUs bring it) and one GPU.
``python reproduce.py failing`` ends in the device error, ``python reproduce.py fixed`` takes an optimizer
that can work on the cpu and prints "fixed: ok". ``FusedAdam`` has what matters of apex's: all tensors of a
group in one call.
"""

import sys

import amp_C
import torch
from torch import nn


class FusedAdam(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})
        self._dummy_overflow_buf = torch.zeros(1, dtype=torch.int, device="cuda")

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            params = group["params"]
            for p in params:
                if not self.state[p]:
                    zeros = torch.zeros_like(p)
                    self.state[p] = {"exp_avg": zeros, "exp_avg_sq": zeros.clone()}
            group["step"] = group.get("step", 0) + 1
            states = [[self.state[p][key] for p in params] for key in ("exp_avg", "exp_avg_sq")]
            lists = [[p.grad for p in params], params, *states]
            options = (group["lr"], 0.9, 0.999, 1e-8, group["step"], 1, True, 0.0)
            amp_C.multi_tensor_adam(2048 * 32, self._dummy_overflow_buf, lists, *options)


class ZeroOptimizerStage2:
    """cpu_offload: the fp32 copies of the parameters, and their gradients, are on the cpu."""

    def __init__(self, module, optimizer_type):
        self.fp32 = [nn.Parameter(p.detach().float().cpu()) for p in module.parameters()]
        self.optimizer = optimizer_type(self.fp32, lr=6e-4)
        self.initialize_optimizer_states()

    def initialize_optimizer_states(self):
        for parameter in self.fp32:
            parameter.grad = torch.zeros_like(parameter)
        self.optimizer.step()


def main(variant):
    torch.manual_seed(0)
    module = nn.Linear(8, 2).to("cuda")
    optimizer_type = FusedAdam if variant == "failing" else torch.optim.AdamW
    ZeroOptimizerStage2(module, optimizer_type)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
