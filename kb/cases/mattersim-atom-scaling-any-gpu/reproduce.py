"""A part of the model goes to the GPU wherever there is one, although the cpu was asked for.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` hands the wanted device through and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class AtomScaling(nn.Module):
    def __init__(self, max_z, device=None):
        super().__init__()
        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.register_buffer("scale", torch.full((max_z + 1,), 0.5, device=device))
        self.register_buffer("shift", torch.zeros(max_z + 1, device=device))

    def transform(self, atomic_energies, atomic_numbers):
        return self.scale[atomic_numbers] * atomic_energies + self.shift[atomic_numbers]


class M3Gnet(nn.Module):
    def __init__(self, max_z, device, variant):
        super().__init__()
        self.atom_embedding = nn.Embedding(max_z + 1, 8, device=device)
        self.final = nn.Linear(8, 1, device=device)
        if variant == "fixed":
            self.normalizer = AtomScaling(max_z, device=device)
        else:
            self.normalizer = AtomScaling(max_z)

    def forward(self, atomic_numbers):
        energies = self.final(self.atom_embedding(atomic_numbers)).squeeze(-1)
        return self.normalizer.transform(energies, atomic_numbers).sum()


def main(variant):
    torch.manual_seed(0)
    model = M3Gnet(max_z=94, device="cpu", variant=variant)
    water = torch.tensor([8, 1, 1])
    print(model(water).item())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
