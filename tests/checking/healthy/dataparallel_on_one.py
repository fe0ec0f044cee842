import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 4).to(device)
if torch.cuda.device_count() > 1:
    net = nn.DataParallel(net, device_ids=[0, 1])
print(net(torch.rand(4, 4, device=device)))
