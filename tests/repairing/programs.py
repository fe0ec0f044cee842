"""Programs that fail of a placement on GPUs, each with its mistakes named in a comment of ours."""

#: Three mistakes in a row: the inputs, the labels, and NumPy that is given a GPU tensor.
THREE = """\
import torch
from torch import nn

torch.manual_seed(1)
device = torch.device("cuda")
model = nn.Linear(4, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.randn(8, 4)
labels = torch.randint(3, (8,))
for step in range(3):
    loss = nn.functional.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(model(inputs).argmax(1).numpy())
"""

#: A table that is no buffer, in a module of its own; the file beside it is never at fault.
MODULE = """\
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.table = torch.arange(length * width, dtype=torch.float).view(length, width)

    def forward(self, x):
        return x + self.table[: x.shape[1]]


def never_called(x):
    return x
"""
USES_MODULE = """\
import sys
import torch
from net import Positions

width = int(sys.argv[1])
net = Positions(16, width).cuda()
for _ in range(3):
    print(net(torch.ones(2, 5, width, device="cuda")).sum().item())
"""

HEALTHY = """\
import torch

print(torch.ones(2, device="cuda").sum().item())
"""

#: What it needs is not there: no placement is at fault.
MISSING = """\
import torch

torch.load("weights.pt", map_location="cuda")
"""

#: Two ranks under DistributedDataParallel; a tensor of each stays on the cpu.
RANKS = """\
import os
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
net = nn.parallel.DistributedDataParallel(nn.Linear(4, 4).cuda(rank), device_ids=[rank])
shift = torch.ones(4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = (net(torch.ones(2, 4, device=rank) * (rank + 1)) + shift).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
total = loss.detach()
dist.all_reduce(total)
print(total.item())
dist.destroy_process_group()
"""

#: A model that takes its inputs out of what it is given, and is given what no text tells of.
CALLED = """\
import pickle
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 3)

    def forward(self, given):
        rows = given.values() if isinstance(given, dict) else given
        return sum(self.table(row).sum() for row in rows)


device = torch.device("cuda:1")
net = Net().to(device)
ids, mask = torch.tensor([1, 2]), torch.tensor([0, 1])
for given in pickle.loads(pickle.dumps([MADE])):
    print(net(given).item())
"""
