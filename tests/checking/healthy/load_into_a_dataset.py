import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.save((torch.rand(8, 3), torch.rand(8, 1)), "data.pt")
xs, ys = torch.load("data.pt", map_location="cpu")
device = torch.device("cuda:0")
net = nn.Linear(3, 1).to(device)
for x, y in DataLoader(TensorDataset(xs, ys), batch_size=4):
    x, y = x.to(device), y.to(device)
    print(((net(x) - y) ** 2).mean())
