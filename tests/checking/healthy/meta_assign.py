import torch
from torch import nn

state = nn.Linear(4, 4).state_dict()
with torch.device("meta"):
    net = nn.Linear(4, 4)
net.load_state_dict(state, assign=True)
net = net.to("cuda")
print(net(torch.rand(1, 4, device="cuda")))
