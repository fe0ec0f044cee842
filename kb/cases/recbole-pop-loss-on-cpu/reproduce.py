"""A model without a loss returns a zero on the cpu, which is summed with the GPU's.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the zero on the model's device and prints "fixed: ok".
The collective of RecBole's trainer is left out; its buffer on the GPU is what the loss meets.
"""

import sys

import torch
from torch import nn


class Pop(nn.Module):
    """Recommends what was bought most often; there is nothing to learn."""

    def __init__(self, n_items, device, variant):
        super().__init__()
        self.device = device
        self.item_cnt = torch.zeros(n_items, 1, dtype=torch.long, device=device)
        self.fake_loss = nn.Parameter(torch.zeros(1))
        self.variant = variant

    def calculate_loss(self, item):
        self.item_cnt[item, :] = self.item_cnt[item, :] + 1
        loss = nn.Parameter(torch.zeros(1))
        return loss.to(self.device) if self.variant == "fixed" else loss


class Trainer:
    def __init__(self, model, device):
        self.model = model.to(device)
        self.device = device

    def sync_grad_loss(self):
        """Ties the loss to all parameters, as DDP wants it."""
        sync_loss = torch.zeros(1, device=self.device)
        for params in self.model.parameters():
            sync_loss = sync_loss + torch.sum(params) * 0
        return sync_loss

    def _train_epoch(self, train_data):
        for item in train_data:
            loss = self.model.calculate_loss(item.to(self.device))
            (loss + self.sync_grad_loss()).backward()


def main(variant):
    device = torch.device("cuda:0")
    trainer = Trainer(Pop(n_items=6, device=device, variant=variant), device)
    trainer._train_epoch([torch.tensor([1, 2]), torch.tensor([2, 5])])
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
