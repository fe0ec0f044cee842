import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def worker(rank, world_size):
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29501", rank=rank, world_size=world_size)
    model = nn.Linear(5, 1).cuda(rank)  # finds: rank-device
    ddp = DDP(model, device_ids=[rank])
    ddp(torch.rand(2, 5).to(rank)).sum().backward()


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
