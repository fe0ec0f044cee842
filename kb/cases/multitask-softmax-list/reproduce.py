"""A head for each task is kept in a list; the shared layers are on the GPU, the heads are not.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` keeps the heads in nn.ModuleList and prints "fixed: ok".
With the list the heads would be missing from model.parameters(), too.
"""

import sys

import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self, input_features, num_classes, variant):
        super().__init__()
        self.shared = nn.Linear(input_features, 6)
        self.softmaxes = [] if variant == "failing" else nn.ModuleList()
        for classes in num_classes:
            self.softmaxes.append(nn.Linear(6, classes))

    def forward(self, batch_in):
        hidden = torch.relu(self.shared(batch_in))
        classify = []
        for i in range(len(self.softmaxes)):
            classify.append(self.softmaxes[i](hidden))
        return classify


def main(variant):
    torch.manual_seed(0)
    model = MultiTask(4, num_classes=[5, 2, 10, 3], variant=variant)
    model.cuda()
    logits = model(torch.rand(2, 4).cuda())
    sum(task.logsumexp(dim=1).sum() for task in logits).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
