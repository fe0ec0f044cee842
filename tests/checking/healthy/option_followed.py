import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args(["--gpu", "1"])
torch.cuda.set_device(args.gpu)
device = torch.device("cuda", args.gpu)

net = nn.Linear(5, 2).to(device)
scale = torch.ones(2).cuda()
for _ in range(2):
    print((net(torch.rand(3, 5, device="cuda")) * scale).sum().item())
