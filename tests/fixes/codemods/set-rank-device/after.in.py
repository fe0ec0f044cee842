# spot: local_rank = int(os.environ["LOCAL_RANK"])
import os
from torch import cuda

local_rank = int(os.environ["LOCAL_RANK"])
x = x.cuda()
