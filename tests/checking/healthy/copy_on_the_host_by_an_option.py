import argparse

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

parser = argparse.ArgumentParser()
parser.add_argument("--slow-copy", action="store_true")
args = parser.parse_args()
net = nn.Linear(4, 2).to("cuda")
slow = AveragedModel(net, device="cpu" if args.slow_copy else None)
where = torch.device("cpu") if args.slow_copy else torch.device("cuda")
print(slow.module(torch.randn(3, 4).to(where)).shape)
