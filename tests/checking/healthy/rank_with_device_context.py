import os

import torch
from torch import nn

local_rank = int(os.environ.get("LOCAL_RANK", 1))
with torch.cuda.device(local_rank):
    net = nn.Linear(3, 3).cuda()
    print(net(torch.rand(1, 3).cuda()))
