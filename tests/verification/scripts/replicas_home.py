import sys

import torch
from torch import nn

home = "cuda:0" if sys.argv[1] == "fixed" else "cuda:1"
nn.DataParallel(nn.Linear(4, 2).to(home), device_ids=[0, 1])(torch.randn(4, 4, device="cuda:0"))
