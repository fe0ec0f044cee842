# the shards of a model are on the GPUs of its mesh
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank())
net = nn.Linear(6, 6)
fully_shard(net, mesh=init_device_mesh("cuda", (dist.get_world_size(),)))
net(torch.rand(2, 6).cuda()).sum().backward()
