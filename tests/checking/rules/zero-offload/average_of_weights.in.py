import os
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel as FSDP

rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl")
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)
net = FSDP(nn.Linear(8, 2), device_id=device, cpu_offload=CPUOffload(offload_params=True), use_orig_params=True)
shadow = [p.detach().clone().to(device) for p in net.parameters()]
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    net(torch.randn(4, 8, device=device)).sum().backward()
    opt.step()
    opt.zero_grad()
    for s, p in zip(shadow, net.parameters()):
        s.mul_(0.9).add_(p.detach(), alpha=0.1)  # finds: zero-offload
