import torch
from torch import nn

device = torch.device("cuda")
table = nn.Embedding(10, 3).to(device)
ids = torch.randint(0, 10, (4,), device=device)
print(table(ids), table.weight[ids])
