"""Targets that a training step makes for itself are on the cpu, the logits on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes them on the batch's device and prints "fixed: ok".
The Trainer moves the batch; it cannot know of a tensor that comes into being afterwards.
"""

import sys

import torch
from torch import nn


class NPairsLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.ce = nn.CrossEntropyLoss()

    def forward(self, predict, target):
        return self.ce(predict, target)


class JointEncoder(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.variant = variant
        self.encoder = nn.Linear(6, 4)
        self.loss_fn = NPairsLoss()

    def forward(self, x1, x2):
        return self.encoder(x1) @ self.encoder(x2).mT

    def training_step(self, batch, batch_idx):
        x1, x2 = batch["x1"], batch["x2"]
        predict = self(x1, x2)
        if self.variant == "failing":
            target = torch.arange(x1.size()[0])
        else:
            target = torch.arange(x1.size()[0], device=predict.device)
        loss = self.loss_fn(predict, target)
        return {"loss": loss}


def fit(model, batches, device):
    model.to(device)
    for batch_idx, batch in enumerate(batches):
        batch = {name: tensor.to(device) for name, tensor in batch.items()}
        model.training_step(batch, batch_idx)["loss"].backward()


def main(variant):
    torch.manual_seed(0)
    batches = [{"x1": torch.rand(3, 6), "x2": torch.rand(3, 6)}]
    fit(JointEncoder(variant), batches, torch.device("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
