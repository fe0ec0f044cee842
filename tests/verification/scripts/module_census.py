import sys

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to("cuda:0")
model[2] = nn.Linear(8, 3)
if sys.argv[1] == "fixed":
    model.to("cuda:0")
model(torch.randn(2, 4, device="cuda:0"))
