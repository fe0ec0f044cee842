import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 1).to(device)
for make in (torch.optim.Adagrad, torch.optim.Adam):
    opt = make(net.parameters(), lr=0.1)
    net(torch.rand(3, 4, device=device)).sum().backward()
    opt.step()
