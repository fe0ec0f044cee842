"""An MLP-Mixer keeps its blocks in a plain list, which .to() does not see.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` keeps them in nn.ModuleList and prints "fixed: ok".
The patch embedding works, the first block does not.
"""

import sys

import torch
from torch import nn


class MlpBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc1 = nn.Linear(dim, 2 * dim)
        self.fc2 = nn.Linear(2 * dim, dim)

    def forward(self, x):
        return self.fc2(torch.nn.functional.gelu(self.fc1(x)))


class MlpMixer(nn.Module):
    def __init__(self, num_classes, num_blocks, patch_size, hidden_dim, variant):
        super().__init__()
        self.embd = nn.Conv2d(3, hidden_dim, kernel_size=patch_size, stride=patch_size)
        self.mlp_blocks = [] if variant == "failing" else nn.ModuleList([])
        for _ in range(num_blocks):
            self.mlp_blocks.append(MlpBlock(hidden_dim))
        self.fc = nn.Linear(hidden_dim, num_classes)

    def forward(self, x):
        y = self.embd(x).flatten(2).transpose(1, 2)
        for block in self.mlp_blocks:
            y = y + block(y)
        return self.fc(y.mean(dim=1))


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    mlp_mixer = MlpMixer(5, num_blocks=2, patch_size=4, hidden_dim=8, variant=variant).to(device)
    names = sorted({name.split(".")[0] for name, _ in mlp_mixer.named_parameters()})
    print("moved:", names, file=sys.stderr)
    mlp_mixer(torch.rand(2, 3, 16, 16).to(device))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
