import torch
from torch import nn

net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
net(torch.rand(1, 4)).sum().backward()
opt.step()
device = torch.device("cuda")
net.to(device)
for state in opt.state.values():
    for k, v in state.items():
        if torch.is_tensor(v) and k != "step":
            state[k] = v.to(device)
net.zero_grad()
net(torch.rand(1, 4, device=device)).sum().backward()
opt.step()
