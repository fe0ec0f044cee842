import torch
from torch import nn

device = torch.device("cuda")
torch.save({"mean": torch.zeros(3), "epoch": 4}, "stats.pt")
stats = torch.load("stats.pt", map_location="cpu")
mean = stats["mean"].to(device)
epoch = stats["epoch"]
print(nn.Linear(3, 3).to(device)(torch.rand(2, 3, device=device) - mean), epoch)
