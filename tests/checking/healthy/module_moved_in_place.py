import torch
from torch import nn

device = torch.device("cuda")
a = nn.Linear(4, 4)
a.to(device)
b = nn.Linear(4, 4)
b = b.cuda()
c = nn.Linear(4, 4, device=device)
x = torch.rand(1, 4, device=device)
print(a(x) + b(x) + c(x))
