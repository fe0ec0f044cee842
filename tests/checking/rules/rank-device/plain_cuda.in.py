import os
import torch
import torch.distributed as dist
import torch.nn as nn


def main():
    dist.init_process_group(backend="nccl")
    local_rank = int(os.environ.get("LOCAL_RANK", 0))
    net = nn.Linear(4, 2).to(f"cuda:{local_rank}")
    net = nn.parallel.DistributedDataParallel(net, device_ids=[local_rank])
    x = torch.rand(3, 4).cuda()  # finds: rank-device
    print(net(x))


main()
