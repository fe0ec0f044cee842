# cause: rank-device
# spot: torch.cuda.set_device(rank)
# devices: ;
import torch


def setup(rank):
    torch.cuda.set_device(rank % torch.cuda.device_count())
    return torch.device("cuda", rank % torch.cuda.device_count())
