"""A module remembers its device, and every DataParallel replica remembers the first GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` keeps to the device of the batch and prints "fixed: ok".
``LightningModule`` is a stand-in for Lightning's: it notes the device when it is moved.
"""

import functools
import sys

import torch
from torch import nn


class LightningModule(nn.Module):
    device = torch.device("cpu")

    def to(self, device):
        self.device = torch.device(device)
        return super().to(device)


def auto_move_data(forward):
    @functools.wraps(forward)
    def auto_transfer_args(self, batch):
        return forward(self, self.transfer_batch_to_device(batch))

    return auto_transfer_args


class BoringModel(LightningModule):
    def __init__(self, variant):
        super().__init__()
        self.variant = variant
        self.layer = nn.Linear(32, 2)

    def transfer_batch_to_device(self, batch):
        return batch.to(self.device) if self.variant == "failing" else batch

    @auto_move_data
    def forward(self, x):
        return self.layer(x)


def main(variant):
    torch.manual_seed(0)
    model = BoringModel(variant).to("cuda:0")
    parallel = nn.DataParallel(model, device_ids=[0, 1])
    parallel(torch.randn(4, 32, device="cuda:0")).sum().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
