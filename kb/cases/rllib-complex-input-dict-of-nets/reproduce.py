"""Sub-networks of a model for mixed observations are kept in plain dictionaries.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` registers them by add_module and prints "fixed: ok".
``ComplexInputNetwork`` has RLlib's structure: one entry of the observation is an image, one a
vector, one an integer, and each kind has a dictionary of its own.
"""

import sys

import torch
from torch import nn


class ComplexInputNetwork(nn.Module):
    def __init__(self, original_space, variant):
        super().__init__()
        self.cnns, self.one_hot, self.flatten = {}, {}, {}
        concat_size = 0
        for i, (kind, size) in enumerate(original_space):
            if kind == "image":
                self.cnns[i] = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten())
                self.add_module(f"cnn_{i}", self.cnns[i])
                concat_size += 4 * (size - 2) ** 2
            elif kind == "discrete":
                self.one_hot[i] = nn.Linear(size, 8)
                if variant == "fixed":
                    self.add_module(f"one_hot_{i}", self.one_hot[i])
                concat_size += 8
            else:
                self.flatten[i] = nn.Linear(size, 8)
                if variant == "fixed":
                    self.add_module(f"flatten_{i}", self.flatten[i])
                concat_size += 8
        self.logits_layer = nn.Linear(concat_size, 2)

    def forward(self, observation):
        outs = []
        for i, component in enumerate(observation):
            if i in self.cnns:
                outs.append(self.cnns[i](component))
            elif i in self.one_hot:
                width = self.one_hot[i].in_features
                outs.append(self.one_hot[i](nn.functional.one_hot(component, width).float()))
            else:
                outs.append(self.flatten[i](component.flatten(1)))
        return self.logits_layer(torch.cat(outs, dim=1))


def main(variant):
    device = torch.device("cuda:0")
    space = [("image", 6), ("box", 5), ("discrete", 3)]
    model = ComplexInputNetwork(space, variant).to(device)
    observation = (
        torch.randn(2, 3, 6, 6, device=device),
        torch.randn(2, 5, device=device),
        torch.randint(3, (2,), device=device),
    )
    model(observation)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
