# spot: dist.init_process_group("gloo", rank=rank, world_size=world)
# cause: rank-device
import torch
import torch.distributed as dist


def join(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
