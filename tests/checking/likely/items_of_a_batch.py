import torch
from torch import nn


class Gaps(nn.Module):
    def forward(self, batch):
        rows = batch["rows"]
        steps = torch.arange(rows.shape[0])  # finds: created-without-device
        return rows * steps.unsqueeze(-1) + rows.flip(0)
