import torch
from torch import nn


def sample(n, device="cuda"):
    return torch.randn(n, 4, device=device)


def evaluate(net, device=torch.device("cpu")):
    net = net.to(device)
    return net(sample(2, device))


print(evaluate(nn.Linear(4, 4), torch.device("cuda:1")))
print(evaluate(nn.Linear(4, 4), device="cuda:0"))
