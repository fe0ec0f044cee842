import torch
from torch import nn


class Flexible(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = None

    def forward(self, x):
        if self.proj is None:
            self.proj = nn.Linear(x.shape[-1], 3).to(x)
        return self.proj(x)


print(Flexible().to("cuda")(torch.rand(2, 6, device="cuda")))
