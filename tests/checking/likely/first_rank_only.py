import os

import torch
from torch import nn
from torch.distributed import init_process_group
from torch.nn.parallel import DistributedDataParallel


def check(model, x):
    x = x.cuda(0)  # finds: rank-device
    return model(x)


def main():
    gpu = int(os.environ["LOCAL_RANK"])
    init_process_group("nccl")
    model = DistributedDataParallel(nn.Linear(3, 3).to(gpu), device_ids=[gpu])
    for _ in range(3):
        if gpu == 0:
            check(model, torch.rand(2, 3))


main()
