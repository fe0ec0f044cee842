import os
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel as FSDP

rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl")
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)
from dataclasses import dataclass

@dataclass
class Run:
    offload_params: bool = True
    tasks: int = 2

run = Run()
net = FSDP(nn.Linear(10, 2), device_id=device, cpu_offload=CPUOffload(run.offload_params), use_orig_params=True)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
kept = [torch.zeros_like(p, device=device) for p in net.parameters()]
for task in range(run.tasks):
    net(torch.randn(4, 10, device=device)).sum().backward()
    for old, p in zip(kept, net.parameters()):
        p.grad.sub_(0.1 * old)  # finds: zero-offload
    opt.step()
