import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--use_gpu", action="store_true")
args = parser.parse_args()
device = torch.device("cuda" if args.use_gpu else "cpu")
net = nn.Linear(4, 3).to(device)
print(net(torch.rand(2, 4)))  # finds: input-not-moved
