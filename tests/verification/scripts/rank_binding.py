import os
import sys

import torch
from torch import nn

rank = int(os.environ["LOCAL_RANK"])
if sys.argv[1] == "fixed":
    torch.cuda.set_device(rank)
nn.Linear(4, 2).cuda()(torch.randn(3, 4).cuda())
