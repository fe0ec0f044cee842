"""A restored optimizer has its moments on the GPU, and the offloaded parameters are on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the state to its parameters and prints "fixed: ok".
``HybridDeviceOptimizer`` is Megatron's idea in few lines: master copies on the cpu, fraction 1.0.
"""

import sys

import torch
from torch import nn


class HybridDeviceOptimizer:
    def __init__(self, params):
        self.gpu_params = list(params)
        self.cpu_copies = [nn.Parameter(p.detach().cpu()) for p in self.gpu_params]
        self.cpu_optimizer = torch.optim.AdamW(self.cpu_copies, lr=1e-2, foreach=True)

    def step(self):
        for gpu, copy in zip(self.gpu_params, self.cpu_copies, strict=True):
            copy.grad = gpu.grad.cpu()
        self.cpu_optimizer.step()
        for gpu, copy in zip(self.gpu_params, self.cpu_copies, strict=True):
            gpu.data.copy_(copy.data)

    def sharded_state_dict(self):
        """What a checkpoint holds: every tensor as it is read back, on the training device."""
        return [
            {name: value.to("cuda") for name, value in self.cpu_optimizer.state[copy].items()}
            for copy in self.cpu_copies
        ]

    def load_sharded_state_dict(self, states, variant):
        for copy, state in zip(self.cpu_copies, states, strict=True):
            if variant == "fixed":
                state = {name: value.to(copy.device) for name, value in state.items()}
            self.cpu_optimizer.state[copy] = state


def train_step(model, optimizer):
    model.zero_grad()
    model(torch.randn(4, 8, device="cuda")).square().mean().backward()
    optimizer.step()


def main(variant):
    torch.manual_seed(0)
    model = nn.Linear(8, 8).to("cuda")
    optimizer = HybridDeviceOptimizer(model.parameters())
    train_step(model, optimizer)
    checkpoint = optimizer.sharded_state_dict()
    resumed = HybridDeviceOptimizer(model.parameters())
    resumed.load_sharded_state_dict(checkpoint, variant)
    train_step(model, resumed)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
