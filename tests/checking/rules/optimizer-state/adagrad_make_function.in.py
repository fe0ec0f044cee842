import torch
from torch import nn


def build(lr):
    net = nn.Linear(5, 5)
    return net, torch.optim.Adagrad(net.parameters(), lr=lr)  # finds: optimizer-state


if __name__ == "__main__":
    net, optim = build(0.1)
    net = net.cuda()
    loss = net(torch.ones(1, 5).cuda()).pow(2).sum()
    loss.backward()
    optim.step()
