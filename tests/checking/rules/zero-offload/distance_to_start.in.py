import os
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel as FSDP

rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl")
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)
net = FSDP(nn.Linear(8, 8), device_id=device, cpu_offload=CPUOffload(offload_params=1))
start = [p.detach().clone().cuda() for p in net.parameters()]
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
for step in range(3):
    net(torch.randn(2, 8, device=device)).pow(2).sum().backward()
    opt.step()
    opt.zero_grad()
far = sum((p - s).norm() for p, s in zip(net.parameters(), start))  # finds: zero-offload
print(far.item())
