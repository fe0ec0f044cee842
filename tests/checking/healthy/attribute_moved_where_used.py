import torch
from torch import nn


class Pos(nn.Module):
    def __init__(self):
        super().__init__()
        self.pe = torch.randn(1, 20, 6)
        self.lin = nn.Linear(6, 6)

    def forward(self, x):
        return self.lin(x) + self.pe[:, : x.size(1)].to(x.device)


pos = Pos().to("cuda")
print(pos(torch.rand(2, 5, 6).to("cuda")).shape)
