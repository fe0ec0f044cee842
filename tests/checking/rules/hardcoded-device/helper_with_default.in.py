import torch
from torch import nn


def one_hot(y, n, device="cuda:0"):
    out = torch.zeros(len(y), n, device=device)
    for i, k in enumerate(y.tolist()):
        out[i, k] = 1
    return out


def main():
    dev = torch.device("cuda:1")
    net = nn.Linear(5, 3).to(dev)
    y = torch.tensor([0, 2])
    p = net(torch.rand(2, 5, device=dev)).softmax(-1)
    return ((p - one_hot(y, 3)) ** 2).sum()  # finds: hardcoded-device


main()
