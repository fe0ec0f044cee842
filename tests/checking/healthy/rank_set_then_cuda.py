import os
import torch
from torch import nn

local_rank = int(os.environ.get("LOCAL_RANK", 0))
torch.cuda.set_device(local_rank)
net = nn.Linear(3, 1).to(torch.device("cuda", local_rank))
for batch in [torch.rand(2, 3) for _ in range(2)]:
    print(net(batch.cuda(non_blocking=True)))
