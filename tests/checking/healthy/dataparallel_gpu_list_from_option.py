import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--gpu_ids", default="0,1")
opt = parser.parse_args([])
ids = [int(i) for i in opt.gpu_ids.split(",")]
net = nn.Linear(3, 2).to(f"cuda:{ids[0]}")
net = nn.DataParallel(net, device_ids=ids)
print(net(torch.rand(4, 3)))
