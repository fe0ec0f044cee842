import sys

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2, device="meta"))
if sys.argv[1] == "fixed":
    model[1].to_empty(device="cuda:0")
model.to("cuda:0")
model(torch.randn(2, 4, device="cuda:0"))
