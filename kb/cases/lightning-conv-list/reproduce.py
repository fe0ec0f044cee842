"""Convolutions appended to a plain list are not moved with the model they belong to.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` keeps them in nn.ModuleList and prints "fixed: ok".
The program plays the part of a Trainer: it moves the model and the batch.
"""

import math
import sys

import torch
from torch import nn


class Conv1DClassifier(nn.Module):
    def __init__(self, num_classes, variant):
        super().__init__()
        encoder_out_channels = 8
        n_layers = int(math.log2(encoder_out_channels))
        self.conv_layers = [] if variant == "failing" else nn.ModuleList()
        for layer_idx in range(n_layers):
            self.conv_layers.append(
                nn.Conv1d(2**layer_idx, 2 ** (layer_idx + 1), kernel_size=3, stride=2)
            )
        self.fc1 = nn.Linear(encoder_out_channels, num_classes)

    def forward(self, x):
        for conv_layer in self.conv_layers:
            x = torch.relu(conv_layer(x))
        return self.fc1(x.mean(dim=-1))


def fit(model, batches, device):
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(variant):
    torch.manual_seed(0)
    batches = [(torch.rand(2, 1, 64), torch.tensor([0, 2]))]
    fit(Conv1DClassifier(3, variant), batches, torch.device("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
