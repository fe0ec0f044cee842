# devices: cuda:0,cpu
# causes: submodule-added-after-move
import torch
from torch import nn

class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.floors = nn.ModuleList()
        self.roof = nn.Linear(4, 1)

    def build(self):
        floor = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.floors.insert(0, floor)  # here

    def forward(self, x):
        for floor in self.floors:
            x = floor(x)  # fails
        return self.roof(x)

tower = Tower().to("cuda")
tower.build()
tower(torch.rand(2, 4).to("cuda"))
