import torch
from torch import nn

class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.register_buffer("scale", torch.tensor([1.0, 2.0]))
    def forward(self, x):
        return self.fc(x)

actor = Actor().to("cuda")
actions = actor(torch.rand(1, 3, device="cuda"))
actions += torch.normal(0, actor.scale * 0.1)  # on the scale's device
print(actions)
