import os

import torch
from torch import nn

rank = int(os.environ.get("RANK", 6))
local_rank = int(os.environ.get("LOCAL_RANK", 2))
torch.cuda.set_device(local_rank)
device = torch.device("cuda", rank % torch.cuda.device_count())

net = nn.Linear(4, 2).to(device)
rows = torch.rand(8, 4, device=f"cuda:{local_rank}")[rank % 2::2]
print(rank, net(rows).square().mean().item())
