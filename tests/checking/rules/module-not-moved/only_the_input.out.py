import torch
from torch import nn

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)  # finds: module-not-moved
x = torch.rand(2, 4).to(device)
print(model(x))
