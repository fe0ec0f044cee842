import os

import torch
import torch.distributed as dist
from torch import nn

rank = int(os.environ["RANK"])
local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(0)  # finds: rank-device
dist.init_process_group("nccl")
net = nn.Linear(4, 4).cuda()
net = nn.parallel.DistributedDataParallel(net, device_ids=[local_rank], output_device=local_rank)
print(net(torch.rand(2, 4).to(f"cuda:{local_rank}")))
