import torch
from torch import nn

def pairs(n, k):
    return torch.randint(n, (k,)), torch.randint(n, (k,))

device = torch.device("cuda")
table = nn.Linear(6, 6).to(device)(torch.randn(20, 6, device=device))
left, right = pairs(20, 8)
left = left.to(device)
print((table.index_select(0, left) * table.index_select(0, right.to(device))).sum().item())  # finds: index-device
