import torch
from torch import nn

net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
net(torch.rand(1, 4)).sum().backward()
opt.step()
state = opt.state_dict()
device = torch.device("cuda")
other = nn.Linear(4, 1).to(device)
opt = torch.optim.Adam(other.parameters())
opt.load_state_dict(state)  # which copies the state to each parameter's device
other(torch.rand(1, 4, device=device)).sum().backward()
opt.step()
