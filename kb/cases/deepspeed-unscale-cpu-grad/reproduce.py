"""Gradients that ZeRO keeps on the cpu are divided by a norm that is a tensor on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the norm to the cpu first and prints "fixed: ok".
``ZeroOptimizer`` has of stage 3 what matters: a flat fp32 gradient on the cpu, a norm computed
over what the ranks hold on their GPUs, and the scaling of the one by the other.
"""

import sys

import torch
from torch import nn


class ZeroOptimizer:
    def __init__(self, module, norm_on_cpu):
        self.parameters = list(module.parameters())
        self.norm_on_cpu = norm_on_cpu
        self.loss_scale, self.max_norm = 8.0, 1.0

    def _get_norm_groups(self):
        return [parameter.grad.norm() for parameter in self.parameters]

    def step(self):
        norm_groups = self._get_norm_groups()
        scaled_global_grad_norm = torch.linalg.vector_norm(torch.stack(norm_groups))
        if self.norm_on_cpu:
            scaled_global_grad_norm = scaled_global_grad_norm.cpu()
        # offload_optimizer: the optimizer's copy of the gradients is in the host's memory.
        flat_grad = torch.cat([p.grad.flatten() for p in self.parameters]).cpu()
        self.unscale_and_clip_grads(flat_grad, scaled_global_grad_norm)

    def unscale_and_clip_grads(self, flat_grad, total_norm):
        true_norm = total_norm / self.loss_scale
        shrink = self.max_norm / true_norm.clamp(min=self.max_norm)
        flat_grad.mul_(shrink / self.loss_scale)


def main(variant):
    torch.manual_seed(0)
    module = nn.Linear(8, 2).to("cuda")
    optimizer = ZeroOptimizer(module, norm_on_cpu=variant == "fixed")
    module(torch.randn(4, 8, device="cuda")).sum().mul(optimizer.loss_scale).backward()
    optimizer.step()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
