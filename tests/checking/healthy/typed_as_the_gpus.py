import torch
from torch import nn

kind = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
tower = nn.Sequential(nn.Linear(7, 7), nn.ReLU(), nn.Linear(7, 1))
tower.type(kind)
print(tower(torch.rand(3, 7).cuda()).sum().item())
