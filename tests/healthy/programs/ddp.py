"""Two gloo ranks: DistributedDataParallel, FSDP, and what goes wrong in them."""

import datetime
import logging
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(name)s %(levelname)s: %(message)s")


def net():
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))


def steps(model, rank, count=5, width=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(count):
        loss = model(torch.randn(8, width)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"[rank{rank}]: step {step} loss {loss.item():.4f}")


def replicated(rank):
    model = DistributedDataParallel(net(), find_unused_parameters=True)
    steps(model, rank)
    dist.barrier()


def sharded(rank):
    from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel

    model = FullyShardedDataParallel(
        net(), cpu_offload=CPUOffload(True), device_id=torch.device("cpu")
    )
    print(model)
    steps(model, rank)
    state = model.state_dict()
    print(f"[rank{rank}]: saved {sorted(state)}")


def sharded_cpu(rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    model = fully_shard(net(), mesh=init_device_mesh("cpu", (2,)))
    print(next(model.parameters()))
    steps(model, rank)


def left(rank):
    steps(DistributedDataParallel(net()), rank, 2)
    print("finished without destroy_process_group")
    os._exit(0)


def timeout(rank):
    if rank == 1:
        time.sleep(8)
        return
    dist.all_reduce(torch.ones(1))


def mismatch(rank):
    dist.all_reduce(torch.ones(2 + rank))


def wrong_shape(rank):
    if rank == 1:
        time.sleep(1)
    steps(DistributedDataParallel(net()), rank, width=4 if rank == 0 else 5)


dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=4))
globals()[sys.argv[1]](dist.get_rank())
dist.destroy_process_group()
print("done")
