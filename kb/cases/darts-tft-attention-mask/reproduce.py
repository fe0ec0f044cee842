"""A transformer keeps the mask of its last batch size; after a move it meets the other device.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` registers mask and index as buffers and prints "fixed: ok".
The model trains on the GPU and is brought back to the cpu, as a Trainer does at the end; mask and
index are only made anew when the batch size changes.
"""

import sys

import torch
from torch import nn


class _TFTModule(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.encoder = nn.Linear(2, 4)
        self.batch_size_last = -1
        if variant == "failing":
            self.attention_mask = None
            self.relative_index = None
        else:
            self.register_buffer("attention_mask", None, persistent=False)
            self.register_buffer("relative_index", None, persistent=False)

    def get_relative_index(self, length, batch_size, device):
        index = torch.arange(length, device=device, dtype=torch.float)
        return index.view(1, length, 1).expand(batch_size, length, 1)

    def forward(self, x):
        batch_size, length, _ = x.shape
        if batch_size != self.batch_size_last:
            self.attention_mask = torch.ones(length, length, device=x.device).triu(1).bool()
            self.relative_index = self.get_relative_index(length, batch_size, x.device)
            self.batch_size_last = batch_size
        x = torch.cat([x, self.relative_index], dim=2)
        x = self.encoder(x)
        scores = (x @ x.mT).masked_fill(self.attention_mask, float("-inf"))
        return scores.softmax(dim=-1) @ x


def main(variant):
    torch.manual_seed(0)
    model = _TFTModule(variant).to("cuda:0")
    series = torch.rand(1, 4, 1)
    model(series.to("cuda:0")).sum().backward()
    model.to("cpu")
    model(series)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
