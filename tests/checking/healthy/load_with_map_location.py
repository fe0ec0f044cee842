import torch
from torch import nn

device = torch.device("cuda")
torch.save(torch.zeros(3), "mean.pt")
mean = torch.load("mean.pt", map_location=device)
print(nn.Linear(3, 3).to(device)(torch.rand(2, 3, device=device) - mean))
