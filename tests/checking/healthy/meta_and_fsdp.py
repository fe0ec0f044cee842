import torch
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

with torch.device("meta"):
    model = nn.Linear(4, 4)
model = FSDP(
    model,
    device_id=torch.cuda.current_device(),
    param_init_fn=lambda m: m.to_empty(device=torch.device("cuda"), recurse=False),
)
