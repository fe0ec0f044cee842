import os

os.environ["CUDA_VISIBLE_DEVICES"] = os.environ.get("LOCAL_RANK", "0")

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("nccl")
net = nn.parallel.DistributedDataParallel(nn.Linear(3, 3).cuda(), device_ids=[0])
print(net(torch.rand(1, 3).cuda()))
