# cause: rank-device
# spot: local_rank = int(os.environ.get("LOCAL_RANK", 0))
# devices: ;
import os

import torch

if torch.cuda.is_available():
    local_rank = int(os.environ.get("LOCAL_RANK", 0))
    torch.cuda.set_device(local_rank)
    net = torch.nn.Linear(2, 2).cuda()
