import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--on-gpu", default="yes")
options = parser.parse_args()

net = nn.Linear(6, 2)
weights = torch.tensor([0.2, 0.8])  # finds: created-without-device
if options.on_gpu == "yes":
    net = net.cuda()
    scores = net(torch.rand(3, 6).cuda())
    print((scores * weights).sum().item())
