"""One output layer for each task, held by a Python list: .cuda() leaves them all behind.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the list an nn.ModuleList and prints "fixed: ok".
The optimizer would not have known the layers of the list either.
"""

import sys

import torch
from torch import nn
from torch.nn.functional import cross_entropy


class MultiTaskNet(nn.Module):
    def __init__(self, features, classes_of, container):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(features, 12), nn.Tanh())
        self.tasks = list(classes_of)
        self.outputs = container(nn.Linear(12, classes) for classes in classes_of.values())

    def forward(self, features):
        hidden = self.trunk(features)
        return {task: output(hidden) for task, output in zip(self.tasks, self.outputs, strict=True)}


def main(variant):
    torch.manual_seed(0)
    classes_of = {"site": 4, "grade": 3}
    container = list if variant == "failing" else nn.ModuleList
    net = MultiTaskNet(6, classes_of, container).cuda()
    scores = net(torch.rand(5, 6).cuda())
    labels = {task: torch.randint(n, (5,)).cuda() for task, n in classes_of.items()}
    sum(cross_entropy(scores[task], labels[task]) for task in classes_of).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
