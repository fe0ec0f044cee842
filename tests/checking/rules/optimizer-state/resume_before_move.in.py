import torch
from torch import nn


def first():
    net = nn.Linear(4, 1)
    opt = torch.optim.Adam(net.parameters())
    net(torch.rand(1, 4)).sum().backward()
    opt.step()
    torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, "resume.pt")


def second(device):
    net = nn.Linear(4, 1)  # finds: optimizer-state
    opt = torch.optim.Adam(net.parameters())
    ckpt = torch.load("resume.pt")
    net.load_state_dict(ckpt["net"])
    opt.load_state_dict(ckpt["opt"])
    net = net.to(device)
    net(torch.rand(1, 4).to(device)).sum().backward()
    opt.step()


first()
second(torch.device("cuda"))
