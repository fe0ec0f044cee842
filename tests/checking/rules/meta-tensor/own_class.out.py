import torch
from torch import nn


class Big(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(self.up(x).relu())


def build(device):
    with torch.device("cpu"):
        model = Big(8)
    return model.to(device)  # finds: meta-tensor


model = build(torch.device("cuda:0"))
print(model(torch.rand(1, 8, device="cuda:0")))
