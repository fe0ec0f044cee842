# spot: torch.device("cuda", local_rank)
# cause: rank-device
local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
device = torch.device("cuda", local_rank)
