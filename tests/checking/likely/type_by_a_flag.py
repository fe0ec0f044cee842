import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--use_gpu", default=False, type=bool)
args = parser.parse_args()


def kind_of(args):
    if args.use_gpu:
        return torch.cuda.FloatTensor
    return torch.FloatTensor


net = nn.Linear(3, 3)
net.type(kind_of(args))
print(net(torch.ones(2, 3)))  # finds: input-not-moved
