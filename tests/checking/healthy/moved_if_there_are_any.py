# A batch is moved where there is a GPU: of two lists nobody knows which it is.
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

args = argparse.ArgumentParser()
args.add_argument("--gpus", type=int, default=1)
args = args.parse_args([])
model = nn.Linear(4, 2).cuda()
rows = TensorDataset(torch.rand(4, 4), torch.rand(4, 2))
for batch in DataLoader([(x, y) for x, y in rows], batch_size=2):
    if args.gpus > 0:
        batch = tuple(t.to(f"cuda:{0}") for t in batch)
    x, y = batch
    print((model(x) - y).sum().item())
