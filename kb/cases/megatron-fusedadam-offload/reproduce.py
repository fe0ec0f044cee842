"""An optimizer whose kernel runs on GPUs only is given the parameters that ZeRO keeps on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes an optimizer that can work on the cpu and prints "fixed: ok".
apex is not needed: ``multi_tensor_applier`` asks what apex's kernel asks first, in its words.
"""

import sys

import torch
from torch import nn


def multi_tensor_applier(update, tensors):
    for tensor in tensors:
        if not tensor.is_cuda:
            raise RuntimeError("expected input to be on cuda")
    update(tensors)


class FusedAdam(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self):
        for group in self.param_groups:
            gradients = [p.grad for p in group["params"]]
            multi_tensor_applier(lambda tensors: torch._foreach_mul_(tensors, 1.0), gradients)


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
