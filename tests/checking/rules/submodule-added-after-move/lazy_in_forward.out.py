import torch
from torch import nn


class Flexible(nn.Module):
    def __init__(self, out):
        super().__init__()
        self.out = out
        self.proj = None
        self.norm = nn.LayerNorm(6)

    def forward(self, x):
        if self.proj is None:
            self.proj = nn.Linear(x.shape[-1], self.out).to(x.device)  # finds: submodule-added-after-move
        return self.proj(self.norm(x))


device = torch.device("cuda")
net = Flexible(3).to(device)
print(net(torch.rand(2, 6, device=device)).shape)
