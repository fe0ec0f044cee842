"""A model that is on the GPU is converted, and the converter builds its result on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` tells the converter the device and prints "fixed: ok".
``run_e3nn_to_cueq`` stands for the converter: a new module with the old one's weights.
"""

import sys

import torch
from torch import nn


class AtomicEnergiesBlock(nn.Module):
    def __init__(self, atomic_energies):
        super().__init__()
        self.register_buffer("atomic_energies", atomic_energies)

    def forward(self, x):
        return x @ self.atomic_energies[:, None]


def run_e3nn_to_cueq(input_model, device="cpu"):
    target = type(input_model)(torch.zeros(len(input_model.atomic_energies)))
    target.load_state_dict(input_model.state_dict())
    return target.to(device)


class MaceModel(nn.Module):
    def __init__(self, model, device, enable_cueq, variant):
        super().__init__()
        self._device = torch.device(device)
        self.model = model.to(self._device)
        if enable_cueq:
            print("Converting models to CuEq for acceleration")
            if variant == "fixed":
                self.model = run_e3nn_to_cueq(self.model, device=str(self._device))
            else:
                self.model = run_e3nn_to_cueq(self.model)

    def forward(self, node_attrs):
        return self.model(node_attrs)


def main(variant):
    raw_model = AtomicEnergiesBlock(torch.tensor([-13.6, -1029.0]))
    model = MaceModel(raw_model, device="cuda", enable_cueq=True, variant=variant)
    species = torch.tensor([0, 1, 0], device="cuda")
    model(nn.functional.one_hot(species, 2).float())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
