# cause: zero-offload
# spot: CPUOffloadPolicy(pin_memory=False)
from torch.distributed import fsdp
from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard

fully_shard(net, offload_policy=fsdp.OffloadPolicy())
