import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
device = torch.device("cuda")
model = DDP(nn.Linear(4, 4).cuda(), device_ids=[local_rank])
print(model(torch.rand(2, 4, device=device)))
