# spot: DDP(model, device_ids=[0], output_device=0)
def worker(local_rank):
    model = DDP(model, device_ids=[local_rank], output_device=local_rank)
