# each process chooses its card first, and .cuda() follows it
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


class Worker:
    def __init__(self, rank):
        self.net = nn.Linear(5, 2).to(f"cuda:{rank}")

    def loss(self, seed):
        rows = torch.randn(4, 5, generator=torch.Generator().manual_seed(seed))
        return self.net(rows.cuda()).pow(2).mean()


def work(rank, count):
    dist.init_process_group("gloo", rank=rank, world_size=count, init_method="tcp://127.0.0.1:29811")
    torch.cuda.set_device(rank)
    print(rank, Worker(rank).loss(rank).item())
    dist.destroy_process_group()


if __name__ == "__main__":
    count = torch.cuda.device_count()
    mp.start_processes(work, args=(count,), nprocs=count, start_method="fork")
