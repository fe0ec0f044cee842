import torch
from torch import nn

with torch.device("cpu"):
    net = nn.Linear(4, 4)
net = net.to("cuda")  # finds: meta-tensor
