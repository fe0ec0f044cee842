# spot: torch.device("cuda", local_rank)
import torch


def chosen(local_rank):
    torch.manual_seed(local_rank)
    torch.cuda.set_device(local_rank)
    return torch.device("cuda", local_rank)
