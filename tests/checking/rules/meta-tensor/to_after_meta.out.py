import torch
from torch import nn

with torch.device("meta"):
    net = nn.Linear(4, 4)
net = net.to_empty(device="cuda")  # finds: meta-tensor
