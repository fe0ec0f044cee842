from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Sheaf:
    rows: torch.Tensor
    places: torch.Tensor
    sizes: list

    def to(self, device):
        return Sheaf(
            rows=self.rows.to(device, non_blocking=True),
            places=self.places,
            sizes=self.sizes,
        )


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows, self.places = nn.Linear(4, 8), nn.Linear(2, 8)

    def forward(self, sheaf):
        return self.rows(sheaf.rows) + self.places(sheaf.places.to(device))  # finds: input-not-moved


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
reader = Reader().to(device)
print(reader(Sheaf(torch.rand(3, 4), torch.rand(3, 2), [3]).to(device)).shape)
