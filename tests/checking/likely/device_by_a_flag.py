import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--use_gpu", action="store_true")
args = parser.parse_args()
device = torch.device("cpu")
if args.use_gpu:
    device = torch.device("cuda")
net = nn.Linear(3, 3).to(device)
print(net(torch.ones(2, 3)))  # finds: input-not-moved
