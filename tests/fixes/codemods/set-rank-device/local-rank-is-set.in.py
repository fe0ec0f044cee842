# cause: rank-device
# spot: torch.cuda.set_device(local_rank)
# devices: ;
torch.cuda.set_device(local_rank)
