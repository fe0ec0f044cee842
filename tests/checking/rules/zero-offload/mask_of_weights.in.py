import os
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel as FSDP

rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl")
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)
net = nn.Linear(16, 16)
masks = [(torch.rand(p.shape) > 0.5).to(device) for p in net.parameters()]
net = FSDP(net, device_id=device, use_orig_params=True, cpu_offload=CPUOffload(offload_params=True))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    net(torch.randn(2, 16, device=device)).sum().backward()
    opt.step()
    with torch.no_grad():
        for m, p in zip(masks, net.parameters()):
            p.mul_(m)  # finds: zero-offload
