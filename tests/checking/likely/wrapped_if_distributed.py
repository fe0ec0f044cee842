import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def score(net, pictures):
    net.cuda()  # finds: rank-device
    if dist.is_initialized():
        local_rank = dist.get_rank()
        net = DistributedDataParallel(net, device_ids=[local_rank], output_device=local_rank)
    return net(pictures.cuda())


if "--distributed" in sys.argv:
    dist.init_process_group("nccl")
print(score(nn.Linear(4, 4), torch.rand(2, 4)))
