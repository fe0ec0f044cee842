# A process has its rank where there are several, and else is the first.
import argparse
import os

import torch
from torch import nn


def main():
    args = argparse.ArgumentParser().parse_args([])
    if "WORLD_SIZE" in os.environ:
        args.local_rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(args.local_rank)
    else:
        args.local_rank = 0
    model = nn.Linear(4, 4).cuda()
    rows = torch.rand(2, 4).to("cuda:{}".format(args.local_rank))
    print(model(rows).shape)


main()
