import torch
from torch_geometric.nn import global_add_pool
from torch import nn

enc = nn.Linear(3, 5).cuda()
head = nn.Linear(5, 1).cuda()
nodes = torch.rand(6, 3)
which = torch.tensor([0, 0, 1, 1, 1, 2], device=next(enc.parameters()).device)  # finds: created-without-device|input-not-moved
h = enc(nodes.cuda())
print(head(global_add_pool(h, which, size=3)))
