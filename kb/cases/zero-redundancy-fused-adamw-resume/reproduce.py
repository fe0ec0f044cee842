"""ZeroRedundancyOptimizer puts the step counters of a loaded state on the cpu, also for fused AdamW.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the counters to their parameters and prints "fixed: ok".
One process with gloo is enough: the state is gathered and loaded as with eight.
"""

import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer


def train_step(model, optimizer):
    optimizer.zero_grad()
    model(torch.randn(8, 4, device="cuda")).pow(2).mean().backward()
    optimizer.step()


def main(variant):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    store = dist.HashStore()
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    torch.manual_seed(0)
    model = nn.Linear(4, 2).cuda()
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, fused=True)
    train_step(model, optimizer)
    optimizer.consolidate_state_dict(to=0)
    state_dict = optimizer.state_dict()

    optimizer.load_state_dict(state_dict)
    if variant == "fixed":
        for p, state in optimizer.optim.state.items():
            state["step"] = state["step"].to(p.device)
    train_step(model, optimizer)
    dist.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
