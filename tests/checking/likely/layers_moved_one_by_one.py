import torch
from torch import nn

card = torch.device("cuda")


class Tall(nn.Module):
    def __init__(self):
        super().__init__()
        self.floors = [  # finds: unregistered-submodule
            nn.Linear(4, 4),
            nn.Linear(4, 4),
            nn.Linear(4, 4),
            nn.Linear(4, 4),
            nn.Linear(4, 4),
            nn.Linear(4, 4),
            nn.Linear(4, 4),
            nn.Linear(4, 4),
            nn.Linear(4, 4),
            nn.Linear(4, 4),
        ]
        for number in range(len(self.floors)):
            self.floors[number] = self.floors[number].to(card)
        self.roof = nn.Linear(4, 1)

    def forward(self, x):
        for floor in self.floors:
            x = floor(x)
        return self.roof(x)


print(Tall().to(card)(torch.rand(2, 4).to(card)).sum())
