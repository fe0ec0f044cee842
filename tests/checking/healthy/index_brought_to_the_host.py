import torch
from torch import nn

device = torch.device("cuda")
names = torch.arange(10)
net = nn.Linear(3, 10).to(device)
top = net(torch.rand(2, 3, device=device)).topk(3).indices
print(names[top.cpu()], [names[i] for i in top[0].tolist()])
