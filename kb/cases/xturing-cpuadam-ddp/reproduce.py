"""DeepSpeed's cpu optimizer is used where nothing is offloaded, so its parameters are on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes an optimizer for the GPU and prints "fixed: ok".
DeepSpeed is not needed: ``DeepSpeedCPUAdam.step`` asks what its own asks, in its words, and then
does a plain step.
"""

import sys

import torch
from torch import nn


class DeepSpeedCPUAdam(torch.optim.Adam):
    def step(self, closure=None):
        device = torch.device("cpu")
        for group in self.param_groups:
            for p in group["params"]:
                assert p.device == device, (
                    f"CPUAdam param is on {p.device} and must be 'cpu', make sure you enabled "
                    "'offload_optimizer': 'cpu' in your ZeRO config."
                )
        return super().step(closure)


class LightningTrainer:
    """Data parallel training: each process has the whole model on its GPU, and offloads nothing."""

    def __init__(self, model, optimizer_type):
        self.model = model.to("cuda")
        self.optimizer = optimizer_type(self.model.parameters(), lr=1e-3)

    def optimizer_step(self):
        self.optimizer.step()

    def fit(self, batch):
        self.model(batch.to("cuda")).sum().backward()
        self.optimizer_step()


def main(variant):
    torch.manual_seed(0)
    optimizer_type = DeepSpeedCPUAdam if variant == "failing" else torch.optim.Adam
    LightningTrainer(nn.Linear(8, 2), optimizer_type).fit(torch.randn(4, 8))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
