"""Eight processes read one checkpoint: without map_location all of them put it on the GPU that saved it."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("nccl")
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    model = nn.Linear(10, 10).to(local_rank)
    checkpoint = torch.load("latest.pt")  # finds: checkpoint-location
    model.load_state_dict(checkpoint["model"])
    model = DDP(model, device_ids=[local_rank])
    model(torch.rand(2, 10).to(local_rank)).sum().backward()


if __name__ == "__main__":
    main()
