import torch
from torch import nn

a, b = nn.Linear(3, 1).to("cuda:0"), nn.Linear(3, 1).to("cuda:1")
x = torch.rand(5, 3)
la = a(x.to("cuda:0")).mean()
lb = b(x.to("cuda:1")).mean()
(la + lb.to(la.device)).backward()
