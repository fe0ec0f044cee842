import os
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel as FSDP

rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl")
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)
import argparse
ap = argparse.ArgumentParser()
ap.add_argument("--cpu-offload", action=argparse.BooleanOptionalAction, default=True)
args = ap.parse_args()

def wrap(model):
    return FSDP(model, device_id=device, cpu_offload=CPUOffload(offload_params=args.cpu_offload))

net = wrap(nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters())
for step in range(4):
    x = torch.randn(6, 8, device=device)
    task = nn.functional.cross_entropy(net(x), torch.zeros(6, dtype=torch.long, device=device))
    size = sum((p ** 2).sum() for p in net.parameters())
    loss = torch.stack([task, 0.01 * size]).sum()  # finds: zero-offload
    loss.backward()
    opt.step()
    opt.zero_grad()
