import torch
from torch import nn


class Prototype(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.protos = nn.Parameter(torch.randn(n, d, requires_grad=True))  # finds: unregistered-tensor
        self.backbone = nn.Linear(d, d)

    def forward(self, x):
        z = self.backbone(x)
        return torch.cdist(z, self.protos)


def run(device):
    model = Prototype(5, 4).to(device)
    x = torch.randn(3, 4).to(device)
    return model(x).argmin(1)


run(torch.device("cuda:0"))
