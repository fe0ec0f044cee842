import os
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel as FSDP

rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl")
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)

class Cfg:
    offload = True
    sigma = 0.01

cfg = Cfg()
policy = CPUOffload(offload_params=cfg.offload)
net = FSDP(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)), device_id=device, cpu_offload=policy)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    net(torch.randn(4, 8, device=device)).mean().backward()
    for p in net.parameters():
        noise = torch.randn(p.grad.shape, device=device)
        p.grad.add_(noise, alpha=cfg.sigma)  # finds: zero-offload
    opt.step()
