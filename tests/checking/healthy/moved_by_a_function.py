import torch
from torch import nn


def prepare(model, device):
    model.train()
    return model.to(device)


def to_all(device, *modules):
    return [m.to(device) for m in modules]


device = torch.device("cuda")
net = prepare(nn.Linear(4, 4), device)
a, b = to_all(device, nn.Linear(4, 4), nn.Linear(4, 4))
print(b(a(net(torch.rand(1, 4, device=device)))))
