import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.blocks = nn.ModuleList([])  # finds: unregistered-submodule
        for i, o in zip(sizes, sizes[1:]):
            self.blocks.append(nn.Sequential(nn.Linear(i, o), nn.ReLU()))
        self.last = nn.Linear(sizes[-1], 1)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def main(device="cuda"):
    net = Tower([4, 8, 8]).to(device)
    return net(torch.ones(2, 4, device=device))


if __name__ == "__main__":
    main()
