import os
import torch
from torch import nn

os.environ.setdefault("LOCAL_RANK", "1")
local_rank = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", local_rank)  # finds: rank-device

def prefetched(batches):
    for x in batches:
        yield x.cuda(non_blocking=True)

net = nn.Linear(3, 1).to(device)
for batch in prefetched([torch.rand(2, 3) for _ in range(2)]):
    print(net(batch).mean().item())
