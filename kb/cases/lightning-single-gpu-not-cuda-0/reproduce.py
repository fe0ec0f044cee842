"""A tensor made with device="cuda" is on the current GPU, the model on the one that was chosen.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the chosen GPU the current one and prints "fixed: ok".
``GPUBackend`` does what matters here of Lightning's: it moves the model and the batches.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.x = nn.Parameter(torch.zeros(1))

    def training_step(self, batch):
        target = self.x * batch + torch.randn(batch.shape, device="cuda")
        return target.pow(2).mean()


class GPUBackend:
    def __init__(self, root_gpu, variant):
        self.root_gpu = root_gpu
        self.variant = variant

    def setup(self, model):
        if self.variant == "fixed":
            torch.cuda.set_device(self.root_gpu)
        model.cuda(self.root_gpu)

    def train(self, model, batches):
        self.setup(model)
        for batch in batches:
            loss = model.training_step(batch.cuda(self.root_gpu))
            loss.backward()


def main(variant):
    torch.manual_seed(0)
    GPUBackend(1, variant).train(Model(), [torch.ones(5), torch.ones(5)])
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
