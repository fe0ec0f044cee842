# The state was loaded before the model moved; a loop over its items brings it there.
import torch
from torch import nn

net = nn.Linear(4, 1)
old = torch.optim.Adam(net.parameters())
net(torch.rand(1, 4)).sum().backward()
old.step()
opt = torch.optim.Adam(net.parameters())
opt.load_state_dict(old.state_dict())
net.to("cuda")
for _, state in opt.state.items():
    for key, value in state.items():
        if isinstance(value, torch.Tensor) and value.dim():
            state[key] = value.cuda()
net.zero_grad()
net(torch.rand(1, 4, device="cuda")).sum().backward()
opt.step()
