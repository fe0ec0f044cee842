"""A recurrent graph layer begins with zeros on the cpu when it gets no hidden state.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the zeros on the device of the features and prints "fixed: ok".
A caller who passes a state of their own never sees it. The diffusion over the graph is left out.
"""

import sys

import torch
from torch import nn


class DCRNN(nn.Module):
    def __init__(self, in_channels, out_channels, variant):
        super().__init__()
        self.out_channels = out_channels
        self.variant = variant
        self.conv_x_z = nn.Linear(in_channels + out_channels, out_channels)
        self.conv_x_h = nn.Linear(in_channels + out_channels, out_channels)

    def _set_hidden_state(self, X, H):
        if H is None:
            H = torch.zeros(X.shape[0], self.out_channels)
            if self.variant == "fixed":
                H = H.to(X.device)
        return H

    def _calculate_update_gate(self, X, H):
        Z = torch.cat([X, H], dim=1)
        return torch.sigmoid(self.conv_x_z(Z))

    def forward(self, X, H=None):
        H = self._set_hidden_state(X, H)
        Z = self._calculate_update_gate(X, H)
        candidate = torch.tanh(self.conv_x_h(torch.cat([X, H], dim=1)))
        return Z * H + (1 - Z) * candidate


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model = DCRNN(4, 6, variant).to(device)
    snapshot = torch.rand(3, 4, device=device)
    H = model(snapshot, torch.zeros(3, 6, device=device))
    print("with a state:", tuple(H.shape), file=sys.stderr)
    model(snapshot)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
