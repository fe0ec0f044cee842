import os

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
net = nn.parallel.DistributedDataParallel(nn.Linear(3, 3))
total = torch.zeros(1)
total += net(torch.rand(1, 3)).sum().item()
dist.all_reduce(total)
print(os.environ.get("RANK"), total)
