"""Short programs, each with one mistake: the cause that the analysis names, and the line to edit."""

from __future__ import annotations

import ast

import pytest

from diagnose.placement import Source
from diagnose.placement.interpreter import analyse
from diagnose.placement.suspects import of_meeting

HEAD = """\
import os, copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset
"""

#: Name -> the devices of the message, the cause, and the program; ``# here`` ends the line to edit.
PROGRAMS = {
    "gen_dropout": (
        ("cuda", "cpu"),
        "generator-device",
        """\
g = torch.Generator()  # here
g.manual_seed(0)
x = torch.randn(3, device="cuda")
mask = torch.rand(3, generator=g, device="cuda")
""",
    ),
    "gen_randperm": (
        ("cpu", "cuda"),
        "generator-device",
        """\
g = torch.Generator(device="cuda")  # here
idx = torch.randperm(10, generator=g)
""",
    ),
    "gen_multi": (
        ("cpu", "cuda"),
        "generator-device",
        """\
g = torch.Generator("cpu").manual_seed(1)  # here
p = torch.rand(3).cuda()
torch.multinomial(p, 1, generator=g)
""",
    ),
    "gen_loader": (
        ("cuda", "cpu"),
        "generator-device",
        """\
g = torch.Generator(device="cuda")  # here
ds = TensorDataset(torch.rand(4))
l = DataLoader(ds, shuffle=True, generator=g)
for b in l:
    pass
""",
    ),
    "gen_helper": (
        ("cpu", "cuda"),
        "generator-device",
        """\
def seeded(seed):
    g = torch.Generator()  # here
    g.manual_seed(seed)
    return g
x = torch.randn(2, device="cuda", generator=seeded(3))
""",
    ),
    "opt_resume": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
m = nn.Linear(2, 2)  # here
o = torch.optim.Adam(m.parameters())
o.load_state_dict(torch.load("o.pt", map_location="cpu"))
m.cuda()
m(torch.rand(1, 2).cuda()).sum().backward()
o.step()
""",
    ),
    "opt_ema": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
class EMA:
    def __init__(self, m):
        self.shadow = {k: v.clone() for k, v in m.state_dict().items()}
    def update(self, m):
        for k, v in m.state_dict().items():
            self.shadow[k].mul_(0.9).add_(v, alpha=0.1)
m = nn.Linear(2, 2)  # here
e = EMA(m)
m.cuda()
e.update(m)
""",
    ),
    "ckpt": (
        ("cuda:1", "cuda:0"),
        "checkpoint-location",
        """\
ck = torch.load("x.pt")  # here
m = nn.Linear(2, 2).to("cuda:1")
m.load_state_dict(ck["m"])
x = torch.rand(1, 2, device="cuda:1")
y = m(x) * ck["scale"]
""",
    ),
    "np1": (
        ("cuda:0",),
        "host-copy-needed",
        """\
m = nn.Linear(2, 2).cuda()
out = m(torch.rand(1, 2).cuda())
arr = out.detach().numpy()  # here
""",
    ),
    "np2": (
        ("cuda:0",),
        "host-copy-needed",
        """\
m = nn.Linear(2, 2).cuda()
preds = []
for _ in range(2):
    preds.append(m(torch.rand(1, 2).cuda()))  # here
np.concatenate(preds)
""",
    ),
    "np3": (
        ("cuda:0",),
        "host-copy-needed",
        """\
m = nn.Linear(2, 2).cuda()
def ev(m):
    r = []
    for _ in range(2):
        r.extend(m(torch.rand(1, 2).cuda()).argmax(1))  # here
    return r
r = ev(m)
np.mean(r)
""",
    ),
    "np4": (
        ("cuda:0",),
        "host-copy-needed",
        """\
import matplotlib.pyplot as plt
losses = []
m = nn.Linear(2, 2).cuda()
for _ in range(3):
    loss = m(torch.rand(1, 2).cuda()).sum()  # here
    losses.append(loss)
plt.plot(losses)
""",
    ),
    "idx1": (
        ("cpu",),
        "index-device",
        """\
m = nn.Linear(2, 2).cuda()
bank = torch.rand(5, 2)
k = m(torch.rand(1, 2).cuda()).topk(2).indices
bank[k]  # here
""",
    ),
    "idx2": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
x = torch.rand(3, 4).cuda()
i = torch.randint(0, 4, (3, 1))  # here
x.gather(1, i)
""",
    ),
    "idx3": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
x = torch.rand(3, 4).cuda()
mask = torch.zeros(3, 4, dtype=torch.bool)  # here
x.masked_fill(mask, 0)
""",
    ),
    "loss_w": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
w = torch.tensor([1., 2.])  # here
m = nn.Linear(2, 2).cuda()
F.cross_entropy(m(torch.rand(3, 2).cuda()), torch.zeros(3, dtype=torch.long).cuda(), weight=w)
""",
    ),
    "loss_c": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
crit = nn.BCEWithLogitsLoss(pos_weight=torch.ones(2))  # here
m = nn.Linear(2, 2).cuda()
crit(m(torch.rand(3, 2).cuda()), torch.zeros(3, 2).cuda())
""",
    ),
    "fixed": (
        ("cuda:1", "cuda:0"),
        "hardcoded-device",
        """\
dev = torch.device("cuda:1")
m = nn.Linear(2, 2).to(dev)
x = torch.rand(3, 2).cuda()  # here
m(x)
""",
    ),
    "fixed2": (
        ("cuda:1", "cuda:0"),
        "hardcoded-device",
        """\
import argparse
p = argparse.ArgumentParser()
p.add_argument("--gpu", type=int, default=1)
a = p.parse_args()
m = nn.Linear(2, 2).cuda(a.gpu)
x = torch.rand(3, 2).cuda()  # here
m(x)
""",
    ),
    "helper_pos": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
def positions(n):
    return torch.arange(n)  # here
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(10, 2)
    def forward(self, x):
        return x + self.e(positions(x.size(1)))
m = M().cuda()
m(torch.rand(1, 3, 2).cuda())
""",
    ),
    "cache": (
        ("cuda:0", "cpu"),
        "unregistered-tensor",
        """\
class R(nn.Module):
    def __init__(self):
        super().__init__()
        self.cos = None
    def build(self, n):
        t = torch.arange(n).float()
        self.cos = t.cos()  # here
    def forward(self, x):
        if self.cos is None:
            self.build(x.size(1))
        return x * self.cos
m = R().cuda()
m(torch.rand(1, 3).cuda())
""",
    ),
    "attrs": (
        ("cuda:0", "cpu"),
        "unregistered-tensor",
        """\
class N(nn.Module):
    mean = torch.tensor([0.5])  # here
    def forward(self, x):
        return x - self.mean
m = N().cuda()
m(torch.rand(1, 3).cuda())
""",
    ),
    "lru": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
import functools
@functools.lru_cache
def table(n):
    return torch.zeros(n, n)  # here
class N(nn.Module):
    def forward(self, x):
        return x + table(x.size(-1))
N()(torch.rand(3, 3).cuda())
""",
    ),
    "dictbatch": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
class D(Dataset):
    def __len__(self): return 4
    def __getitem__(self, i):
        return {"x": torch.rand(2), "y": torch.tensor(0)}
m = nn.Linear(2, 2).cuda()
for b in DataLoader(D(), batch_size=2):
    x = b["x"].cuda()
    y = b["y"]  # here
    F.cross_entropy(m(x), y)
""",
    ),
    "tuplebatch": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
m = nn.Linear(2, 2).cuda()
for i, batch in enumerate(DataLoader(TensorDataset(torch.rand(4, 2), torch.rand(4, 2)), 2)):
    x, y = batch  # here
    F.mse_loss(m(x.cuda()), y)
""",
    ),
    "meta1": (
        ("meta", "cpu"),
        "meta-tensor",
        """\
with torch.device("meta"):
    m = nn.Linear(2, 2)
m.to("cuda")  # here
""",
    ),
    "dp1": (
        ("cuda:0", "cuda:1"),
        "dataparallel-home-device",
        """\
m = nn.Linear(2, 2).to("cuda:1")
m = nn.DataParallel(m)  # here
m(torch.rand(4, 2).cuda())
""",
    ),
    "ddp": (
        ("cuda:0", "cuda:1"),
        "rank-device",
        """\
r = int(os.environ["LOCAL_RANK"])
torch.distributed.init_process_group("nccl")
m = nn.Linear(2, 2).to(r)
m = nn.parallel.DistributedDataParallel(m, device_ids=[r])
t = torch.zeros(1, device="cuda")  # here
loss = m(torch.rand(1, 2).to(r)).mean()
print(loss + t)
""",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_short_program(name: str) -> None:
    devices, cause, rest = PROGRAMS[name]
    text = HEAD + rest
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)))
    found = [one for met in program.meetings for one in of_meeting(met, devices)]
    assert program.complete
    assert {(one.cause, one.line.code.endswith("# here")) for one in found} == {(cause, True)}
