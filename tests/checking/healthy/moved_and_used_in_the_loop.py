import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 1).to(device)
parts = {"left": torch.rand(2, 4), "right": torch.rand(2, 4)}
scores = []
for name, part in parts.items():
    part = part.to(device)
    scores.append(net(part))
print(torch.cat(scores).shape)
