import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int)
told = parser.parse_args()
torch.cuda.set_device(told.local_rank)
dist.init_process_group("nccl")
net = nn.parallel.DistributedDataParallel(nn.Linear(4, 2).cuda(), device_ids=[told.local_rank])
for rows in DataLoader(torch.rand(8, 4)):
    print(net(rows).sum().item())
