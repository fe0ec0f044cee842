import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--gpu-ids", default="0", help="comma separated")
args = parser.parse_args(["--gpu-ids", "1,2"])
gpu_ids = [int(one) for one in args.gpu_ids.split(",")]

net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
net = net.cuda()  # finds: dataparallel-home-device
if len(gpu_ids) > 1:
    net = nn.DataParallel(net, device_ids=gpu_ids)
for _ in range(2):
    print(net(torch.rand(8, 6).cuda()).sum().item())
