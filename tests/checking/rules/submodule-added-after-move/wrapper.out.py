import torch
from torch import nn


class WithAdapter(nn.Module):
    def __init__(self, base, dim):
        super().__init__()
        self.base = base
        self.adapter = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        return self.base(x) + self.adapter(x)


device = torch.device("cuda")
net = nn.ModuleDict({"lin": nn.Linear(4, 4)}).to(device)
net["lin"] = WithAdapter(net["lin"], 4).to(device)  # finds: submodule-added-after-move
print(net["lin"](torch.rand(2, 4, device=device)))
