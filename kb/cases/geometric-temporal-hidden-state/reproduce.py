"""A recurrent graph layer begins with zeros on the cpu when it gets no hidden state.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the zeros on the device of the features and prints "fixed: ok".
A caller who passes a state of their own never sees it. The diffusion over the graph is left out.
"""

import sys

import torch
from torch import nn


class GatedGraphCell(nn.Module):
    """Stands for DCRNN and its like: features and state are joined before each gate."""

    def __init__(self, features, width, variant):
        super().__init__()
        self.width = width
        self.variant = variant
        self.update = nn.Linear(features + width, width)
        self.candidate = nn.Linear(features + width, width)

    def first_state(self, nodes):
        device = nodes.device if self.variant == "fixed" else None
        return torch.zeros(len(nodes), self.width, device=device)

    def forward(self, nodes, state=None):
        if state is None:
            state = self.first_state(nodes)
        joined = torch.cat((nodes, state), dim=1)
        keep = self.update(joined).sigmoid()
        return keep * state + (1 - keep) * self.candidate(joined).tanh()


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model = GatedGraphCell(features=4, width=6, variant=variant).to(device)
    snapshot = torch.rand(3, 4, device=device)
    state = model(snapshot, torch.zeros(3, 6, device=device))
    print("with a state:", tuple(state.shape), file=sys.stderr)
    model(snapshot)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
