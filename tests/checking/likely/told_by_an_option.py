import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--blend", action="store_true")
options = parser.parse_args()

net = nn.Linear(6, 6).cuda()
rows = net(torch.rand(3, 6).cuda())
if options.blend:
    rows = rows + torch.randn(3, 6)  # finds: created-without-device
print(rows.mean().item())
