import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", local_rank)  # finds: rank-device
model = nn.Linear(4, 4).to(device)
model = DDP(model, device_ids=[local_rank])
for _ in range(2):
    model(torch.rand(2, 4, device=device)).sum().backward()
