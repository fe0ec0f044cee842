import torch
from torch import nn
from torch_geometric.nn import global_mean_pool

net = nn.Linear(4, 3).to("cuda")
rows = torch.rand(6, 4, device="cuda")
graphs = torch.tensor([0, 0, 0, 1, 1, 1], device="cuda")
shares = torch.ones(2, 3)  # finds: created-without-device
print(global_mean_pool(net(rows), graphs) * shares)
