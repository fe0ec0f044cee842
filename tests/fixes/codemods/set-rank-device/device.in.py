# spot: torch.device("cuda")
def worker(rank, world_size):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    device = torch.device("cuda")
