"""A training run, an inference, and other ways to end."""

import itertools
import sys

import torch
from torch import nn

model = nn.Linear(4, 2).cuda()
how = sys.argv[1]
if how == "interrupted-early":
    raise KeyboardInterrupt
if how == "exit":
    sys.exit(3)
if how == "crash":
    raise ValueError("learning rate must be positive")
if how == "memory":
    raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB on device cuda:0")
if how == "chat":
    for _ in itertools.count():
        with torch.no_grad():
            model(torch.randn(3, 4).cuda())
if how == "file":
    raise FileNotFoundError("no such file: cuda/cpu.bin")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in itertools.count():
    if how == "interrupted" and step == 1:
        raise KeyboardInterrupt
    loss = model(torch.randn(3, 4).cuda()).sum()
    if how == "interrupted-in-step":
        raise KeyboardInterrupt
    loss.backward()
    optimizer.step()
