import torch.distributed as dist
from torch import nn


def wrapped(width):
    net = nn.Linear(width, 2).to("cuda")  # finds: rank-device
    rank = dist.get_rank()
    return nn.parallel.DistributedDataParallel(net, device_ids=[rank], output_device=rank)


print(wrapped(4))
