import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 1).to(device)
opt = torch.optim.Adam(net.parameters())  # finds: optimizer-state
for epoch in range(2):
    net(torch.rand(2, 4, device=device)).sum().backward()
    opt.step()
    opt.zero_grad()
net = net.to("cuda:1")
net(torch.rand(2, 4, device="cuda:1")).sum().backward()
opt.step()
