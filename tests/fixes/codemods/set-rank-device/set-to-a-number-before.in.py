# spot: torch.device("cuda", local_rank)
# cause: rank-device
torch.cuda.set_device(0)
local_rank = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", local_rank)
