# spot: local_rank = int(os.environ["LOCAL_RANK"])
import os
from torch import cuda

local_rank = int(os.environ["LOCAL_RANK"])
cuda.set_device(local_rank)
x = x.cuda()
