# spot: dist.init_process_group("nccl")
def worker(local_rank):
    dist.init_process_group("nccl")
    torch.cuda.set_device(local_rank)
