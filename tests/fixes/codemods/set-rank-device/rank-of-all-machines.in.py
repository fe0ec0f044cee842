# cause: rank-device
# spot: torch.cuda.set_device(rank)
# devices: ;
import torch


def setup(rank):
    torch.cuda.set_device(rank)
    return torch.device("cuda", rank)
