"""Short programs, each with one mistake: the cause that the analysis names, and the line to edit."""

from __future__ import annotations

import ast

import pytest
from parsing.knowledge import torch

from diagnose.kinds import ConstraintKind
from diagnose.placement import Source
from diagnose.placement.analysis import Line, analyse, doubted, suspects
from diagnose.placement.localization.suspects import of_meeting

HEAD = """\
import copy
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

"""

#: Name -> the devices of the message, the cause, and the program; ``# here`` ends the line to edit.
PROGRAMS = {
    "the state of an optimizer that a method loads above the move of its model, which knows no device before": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
class Resume:
    def begin(self, run):
        kept = torch.load("last.pt", map_location="cpu")
        run.optimizer.load_state_dict(kept["optimizer"])
class Run:
    def __init__(self, net, optimizer, device="cuda"):
        self.net, self.optimizer, self.device = net, optimizer, device
        self.hooks = [Resume()]
    def tell(self, event):
        for hook in self.hooks:
            getattr(hook, event)(self)
    def fit(self, x):
        self.tell("begin")  # here
        self.net.to(self.device)
        self.net(x.to(self.device)).sum().backward()
        self.optimizer.step()
def night():
    net = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(net.parameters())
    Run(net, optimizer).fit(torch.rand(2, 2))
night()
""",
    ),
    "the state of an optimizer that a function loads above the move of a model that is built beside it": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
def resume(optimizer):
    optimizer.load_state_dict(torch.load("last.pt", map_location="cpu"))
device = torch.device("cuda")
net = nn.Linear(2, 2)  # here
optimizer = torch.optim.Adam(net.parameters())
resume(optimizer)
net.to(device)
net(torch.rand(2, 2).to(device)).sum().backward()
optimizer.step()
""",
    ),
    "metrics that a function within another one makes by a table, beside a device": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
import torchmetrics
def share(classes):
    return torchmetrics.Accuracy(task="multiclass", num_classes=classes)
TABLE = {"share": share}
class Season:
    def __init__(self, names, place):
        device = torch.device(place)
        make = lambda chosen: {one: TABLE[one](3) for one in chosen}  # here
        self.net = nn.Linear(2, 3).to(device)
        self.scores = make(names)
    def judge(self, x, wanted):
        for score in self.scores.values():
            score.update(self.net(x), wanted)
season = Season(["share"], "cuda")
season.judge(torch.rand(2, 2).cuda(), torch.tensor([0, 1]).cuda())
""",
    ),
    "metrics that a function makes by a table, where nobody around it knows a device": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
import torchmetrics
def share(classes):
    return torchmetrics.Accuracy(task="multiclass", num_classes=classes)  # here
TABLE = {"share": share}
class Season:
    def __init__(self, names):
        make = lambda chosen: {one: TABLE[one](3) for one in chosen}
        self.scores = make(names)
    def judge(self, x, wanted):
        for score in self.scores.values():
            score.update(x, wanted)
season = Season(["share"])
season.judge(torch.rand(2, 3).cuda(), torch.tensor([0, 1]).cuda())
""",
    ),
    "an object's cache that its method asks without the device, filled for the first GPU before": (
        ("cuda:0", "cuda:1"),
        "dataparallel-replica-state",
        """\
class Decay(nn.Module):
    def __init__(self):
        super().__init__()
        self.rates = nn.Embedding(8, 2)
        self.kept = {}  # here
    def hours(self, n, device):
        if n not in self.kept:
            self.kept[n] = torch.arange(n, device=device) // 2
        return self.kept[n]
    def forward(self, x):
        return x * self.rates(self.hours(x.shape[0], x.device))
net = Decay().to("cuda:0")
net(torch.rand(4, 2).to("cuda:0"))
net = nn.DataParallel(net)
net(torch.rand(4, 2).to("cuda:0"))
""",
    ),
    "an object's table that one method fills for the first GPU, and another reads": (
        ("cuda:0", "cuda:1"),
        "dataparallel-replica-state",
        """\
class Decay(nn.Module):
    def __init__(self):
        super().__init__()
        self.rates = nn.Embedding(8, 2)
        self.kept = {}  # here
    def hours(self, n, device):
        self.kept[n] = torch.arange(n, device=device) // 2
    def at(self, n):
        return self.kept[n]
    def forward(self, x):
        return x * self.rates(self.at(x.shape[0]))
net = Decay().to("cuda:0")
net.hours(4, torch.device("cuda:0"))
net = nn.DataParallel(net)
net(torch.rand(8, 2).to("cuda:0"))
""",
    ),
    "weights that rest on the host and others on a GPU, listed together, whose gradients are put in a row": (
        ("cuda:0", "cpu"),
        "zero-offload",
        """\
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel
def largest(weights):
    found = [one.grad.abs().max() for one in weights]
    return torch.stack(found).max()  # here
body = FullyShardedDataParallel(nn.Linear(2, 2), cpu_offload=CPUOffload(True), device_id=0)
head = nn.Linear(2, 2).cuda()
head(body(torch.rand(2, 2).cuda())).sum().backward()
print(largest([*body.parameters(), *head.parameters()]))
""",
    ),
    "rows that are sent to where a model ends, whose parts are on as many GPUs as there are, two at most": (
        ("cuda:1", "cuda:0"),
        "input-on-wrong-shard",
        """\
def cards():
    return [torch.device("cuda", n) for n in range(min(torch.cuda.device_count(), 2))]
class Pair(nn.Module):
    def __init__(self, where):
        super().__init__()
        self.low = nn.Linear(2, 2).to(where[0])
        self.top = nn.Linear(2, 2).to(where[-1])
    def forward(self, x):
        return self.top(self.low(x).to("cuda:1"))
pair = Pair(cards())
last = list(pair.parameters())[-1].device  # here
pair(torch.rand(2, 2).to(last))
""",
    ),
    "rows on the current GPU, where a model begins on the second": (
        ("cuda:0", "cuda:1"),
        "hardcoded-device",
        """\
count = torch.cuda.device_count()
cards = [torch.device("cuda", n) for n in range(1 if count > 1 else 0, count)]
net = nn.Linear(2, 2).to(cards[0])
here = torch.device("cuda", torch.cuda.current_device())  # here
net(torch.rand(2, 2).to(here))
""",
    ),
    "a model whose weights a checkpoint replaced, and that a library calls": (
        ("cuda:0", "cpu"),
        "checkpoint-location",
        """\
from monai.inferers import SimpleInferer
from monai.networks.nets import AutoEncoder
net = AutoEncoder(2, 1, 1, [4], [2]).to("cuda")
torch.save(net.state_dict(), "net.pt")
net.load_state_dict(torch.load("net.pt", map_location="cpu"), assign=True)  # here
over = SimpleInferer()
print(over(torch.rand(1, 1, 8, 8).cuda(), net))
""",
    ),
    "a split model that a trainer brings to one GPU, whose input still goes where a part was": (
        ("cuda:1", "cuda:0"),
        "device-map-under-training",
        """\
import lightning
class Halves(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.low = nn.Linear(2, 2).to("cuda:0")
        self.top = nn.Linear(2, 1).to("cuda:1")
    def forward(self, x):
        held = self.low(x.to("cuda:0")).to("cuda:1")
        return self.top(held)
    def training_step(self, batch, number):
        return self(batch[0]).mean()
net = Halves()  # here
print(net(torch.rand(2, 2)))
rows = DataLoader(TensorDataset(torch.rand(4, 2)))
lightning.Trainer(accelerator="gpu", devices=1).fit(net, rows)
""",
    ),
    "one of two that a function gave together, of which the other is moved": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
def tides(count):
    return torch.rand(count, 2), torch.randint(2, (count,))
here = torch.device("cuda")
past, rose = tides(6)
late, sank = tides(3)
past = past.to(here)
rose = rose.to(here)
late = late.to(here)  # here
net = nn.Linear(2, 2).to(here)
F.cross_entropy(net(past), rose).backward()
print(F.cross_entropy(net(late), sank))
""",
    ),
    "what a function makes, and nobody moves of all that it gave": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
def scales(count):
    return torch.rand(count), torch.rand(count)  # here
here = torch.device("cuda")
low, high = scales(3)
net = nn.Linear(2, 3).to(here)
print(net(torch.rand(4, 2).to(here)) * low)
""",
    ),
    "what a model gave that an object keeps on the first card": (
        ("cuda:0", "cuda:1"),
        "hardcoded-device",
        """\
import util
from sentence_transformers import SentenceTransformer
class Chart:
    def __init__(self, pilot, seas):
        found = []
        for sea in seas:
            found.append(pilot.encode(sea, convert_to_tensor=True).cpu())
        self.all = F.normalize(torch.cat(found)).cuda()  # here
pilot = SentenceTransformer("m", device="cuda:1")
chart = Chart(pilot, [["fog"]])
util.compare(pilot.encode(["fog"], convert_to_tensor=True), chart.all)
""",
    ),
    "what a function brings to one card, and needs there besides, where a call hands it to another": (
        ("cuda:1", "cuda:0"),
        "input-on-wrong-shard",
        """\
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Embedding(9, 2).to("cuda:1")
        self.top = nn.Linear(2, 9).to("cuda:0")
    def forward(self, notes):
        return self.top(self.low(notes).to("cuda:0"))
class Choir:
    def __init__(self, pair):
        self.pair, self.home = pair, torch.device("cuda:0")
    def sung(self, notes):
        notes = notes.to(self.home)
        print(notes.shape)
        high = self.pair(notes[:, 1:])  # here
        return high.argmax(-1) == notes[:, :-1]
Choir(Pair()).sung(torch.randint(0, 9, (2, 5)))
""",
    ),
    "what a function brings to one card for a call, and brings on besides": (
        ("cuda:1", "cuda:0"),
        "input-on-wrong-shard",
        """\
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Embedding(9, 2).to("cuda:1")
        self.top = nn.Linear(2, 9).to("cuda:0")
    def forward(self, notes):
        return self.top(self.low(notes).to("cuda:0"))
class Choir:
    def __init__(self, pair):
        self.pair, self.home = pair, torch.device("cuda:0")
    def sung(self, notes):
        notes = notes.to(self.home)  # here
        print(notes.shape)
        high = self.pair(notes[:, 1:])
        return high.argmax(-1) == notes[:, :-1].to(high.device)
Choir(Pair()).sung(torch.randint(0, 9, (2, 5)))
""",
    ),
    "what an object of a module's has of rows that are brought bit by bit": (
        ("cuda:0", "cpu"),
        "unregistered-tensor",
        """\
class Scale:
    def __init__(self, most):
        self.most = most
    def back(self, y):
        return y * self.most  # here
class Store:
    def __init__(self):
        self.rows = torch.rand(8, 3)
        self.scale = Scale(self.rows.amax(0))
class Gauge(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.gain = nn.Linear(3, 3)
    def forward(self, x):
        return self.scale.back(self.gain(x))
DEVICE = "cuda"
store = Store()
gauge = Gauge(store.scale).to(DEVICE)
for part in store.rows.split(4):
    part = part.to(DEVICE)
    gauge(part)
""",
    ),
    "what an object of a module's has of rows that nothing brings": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Scale:
    def __init__(self, most):
        self.most = most
    def back(self, y):
        return y * self.most
class Store:
    def __init__(self):
        self.rows = torch.rand(8, 3)  # here
        self.scale = Scale(self.rows.amax(0))
class Gauge(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.gain = nn.Linear(3, 3)
    def forward(self, x):
        return self.scale.back(self.gain(x))
DEVICE = "cuda"
store = Store()
gauge = Gauge(store.scale).to(DEVICE)
gauge(torch.rand(4, 3, device=DEVICE))
""",
    ),
    "what a method of an object of a module's reads, made where nobody knew a device": (
        ("cuda:0", "cpu"),
        "unregistered-tensor",
        """\
class Dial:
    def __init__(self, marks):
        self.angles = torch.linspace(0, 1, marks)
    def turned(self, y):
        return y + self.angles  # here
class Gauge(nn.Module):
    def __init__(self, dial):
        super().__init__()
        self.dial = dial
        self.gain = nn.Parameter(torch.ones(5))
    def forward(self, x):
        return self.dial.turned(x * self.gain)
gauge = Gauge(Dial(5)).to("cuda")
gauge(torch.rand(5, device="cuda"))
""",
    ),
    "an index that a method is given to pick from two things on the host": (
        ("cpu",),
        "index-device",
        """\
class Shelf:
    def __init__(self):
        self.books = torch.rand(9, 2)
        self.prices = torch.rand(9)
    def take(self, best):
        print(len(self.books))
        return self.books[best], self.prices[best]
net = nn.Linear(2, 3).cuda()
scores = net(torch.rand(1, 2).cuda())
Shelf().take(scores.argmax(-1))  # here
""",
    ),
    "an index that each call of a method gives it to pick from two things on the host": (
        ("cpu",),
        "index-device",
        """\
class Shelf:
    def __init__(self):
        self.books = torch.rand(9, 2)
    def spread(self, best):  # here
        return self.books[best].amax() - self.books[best].amin()
shelf = Shelf()
net = nn.Linear(2, 3).cuda()
for rows in torch.rand(2, 4, 2).cuda():
    shelf.spread(net(rows).argmax(-1))
shelf.spread(net(rows).argmin(-1))
""",
    ),
    "an index that a method is given to pick from one thing on the host": (
        ("cpu",),
        "index-device",
        """\
class Shelf:
    def __init__(self):
        self.books = torch.rand(9, 2)
        self.prices = torch.rand(9)
    def take(self, best):
        return self.books[best]  # here
net = nn.Linear(2, 3).cuda()
scores = net(torch.rand(1, 2).cuda())
Shelf().take(scores.argmax(-1))
""",
    ),
    "an index that a method is given to pick from two things, and to compute with": (
        ("cpu",),
        "index-device",
        """\
class Shelf:
    def __init__(self):
        self.books = torch.rand(9, 2)
        self.prices = torch.rand(9)
    def take(self, best):
        print(best + 1)
        books = self.books[best]  # here
        return books, self.prices[best]
net = nn.Linear(2, 3).cuda()
scores = net(torch.rand(1, 2).cuda())
Shelf().take(scores.argmax(-1))
""",
    ),
    "a first GPU that a property tells, where the object lists those of the wrapper": (
        ("cuda:1", "cuda:0"),
        "dataparallel-home-device",
        """\
class Rig:
    def __init__(self, cards):
        self.cards = cards
        self.net = self.placed(nn.Linear(2, 2))
    @property
    def place(self):
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")  # here
    def placed(self, net):
        net = net.to(self.place)
        return nn.DataParallel(net, device_ids=list(self.cards))
rig = Rig([1, 0])
rig.net(torch.rand(4, 2, device="cuda:0"))
""",
    ),
    "a first GPU that an object keeps behind the list of those of the wrapper": (
        ("cuda:1", "cuda:0"),
        "dataparallel-home-device",
        """\
class Rig:
    def __init__(self, cards):
        self.cards = cards
        self.place = torch.device("cuda")  # here
        net = nn.Linear(2, 2).to(self.place)
        self.net = nn.DataParallel(net, self.cards)
rig = Rig([1, 0])
rig.net(torch.rand(4, 2, device="cuda:0"))
""",
    ),
    "a first GPU that an object keeps above the list of those of the wrapper": (
        ("cuda:1", "cuda:0"),
        "dataparallel-home-device",
        """\
class Rig:
    def __init__(self, cards):
        self.place = torch.device("cuda")
        self.cards = cards
        net = nn.Linear(2, 2).to(self.place)
        self.net = nn.DataParallel(net, self.cards)  # here
rig = Rig([1, 0])
rig.net(torch.rand(4, 2, device="cuda:0"))
""",
    ),
    "a first GPU that a property tells, where a method is told those of the wrapper": (
        ("cuda:1", "cuda:0"),
        "dataparallel-home-device",
        """\
class Rig:
    @property
    def place(self):
        return torch.device("cuda")
    def __init__(self, cards):
        net = nn.Linear(2, 2).to(self.place)
        self.net = nn.DataParallel(net, cards)  # here
rig = Rig([1, 0])
rig.net(torch.rand(4, 2, device="cuda:0"))
""",
    ),
    "what a library's loss hands to the model that it was given": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from sentence_transformers import SentenceTransformer, losses
net = SentenceTransformer("tide", device="cuda")
loss = losses.CosineSimilarityLoss(model=net)
parts = [net.tokenize(["ebb"]), net.tokenize(["flow"])]  # here
loss(parts, torch.ones(1, device="cuda"))
""",
    ),
    "saved weights that take the place of those of a model that was moved": (
        ("cuda:0", "cpu"),
        "checkpoint-location",
        """\
def resume(net, path):
    saved = torch.load(path, map_location="cpu")
    net.load_state_dict(saved["net"], assign=True)  # here
    return saved["step"]
net = nn.Linear(2, 2).to("cuda")
resume(net, "tide.pt")
net(torch.rand(3, 2, device="cuda"))
""",
    ),
    "saved weights that take the place of some of those of a model that was moved": (
        ("cuda:0", "cpu"),
        "checkpoint-location",
        """\
net = nn.Linear(2, 2).to("cuda")
state = torch.load("tide.pt", map_location="cpu")
left = net.load_state_dict(state, False, True)  # here
net(torch.rand(3, 2, device="cuda"))
""",
    ),
    "saved weights that take no other weights' place": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
net = nn.Linear(2, 2).to("cuda")
net.load_state_dict(torch.load("tide.pt", map_location="cpu"), assign=False)
net(torch.rand(3, 2))  # here
""",
    ),
    "saved weights that took others' place before the model moved": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
net = nn.Linear(2, 2).to("cuda")
net.load_state_dict(torch.load("tide.pt", map_location="cpu"), strict=False, assign=True)
net.cuda()
net(torch.rand(3, 2))  # here
""",
    ),
    "what a module is given that is called with other weights": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
class Tide(nn.Module):
    def __init__(self):
        super().__init__()
        self.level = nn.Linear(2, 2)
    def forward(self, x):
        return self.level(x)
tide = Tide()
weights = {k: torch.empty(w.shape, device="cuda") for k, w in tide.named_parameters()}
shape = torch.empty(3, 2)  # here
torch.func.functional_call(tide, weights, (shape,))
""",
    ),
    "what an object of a module's made where nobody knew a device": (
        ("cuda:0", "cpu"),
        "unregistered-tensor",
        """\
class Dial:
    def __init__(self, marks):
        self.angles = torch.linspace(0, 1, marks)
class Gauge(nn.Module):
    def __init__(self, dial):
        super().__init__()
        self.dial = dial
        self.gain = nn.Parameter(torch.ones(5))
    def forward(self, x):
        return x * self.gain + self.dial.angles  # here
dial = Dial(5)
print(dial.angles.numpy())
gauge = Gauge(dial).to("cuda")
gauge(torch.rand(5, device="cuda"))
""",
    ),
    "what an object of a module's made though it was told a device": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Dial:
    def __init__(self, marks, device):
        self.device = device
        self.angles = torch.linspace(0, 1, marks)  # here
class Gauge(nn.Module):
    def __init__(self, dial):
        super().__init__()
        self.dial = dial
        self.gain = nn.Parameter(torch.ones(5))
    def forward(self, x):
        return x * self.gain + self.dial.angles
gauge = Gauge(Dial(5, torch.device("cuda"))).to("cuda")
gauge(torch.rand(5, device="cuda"))
""",
    ),
    "a layer that a method adds, of a model that is moved once more after it ran": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(2, 2)])
    def grow(self):
        block = nn.Linear(2, 2)
        self.blocks.append(block)  # here
        return block
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
net = Growing().to("cuda")
net.grow()
net(torch.rand(3, 2, device="cuda"))
net.to("cuda")
""",
    ),
    "a GPU that a parameter names by default, beside what the function is given": (
        ("cuda:0", "cuda:1"),
        "hardcoded-device",
        """\
def spread(chosen, device="cuda:1"):
    rows = torch.full((2, 3), 0.1, device=device)  # here
    return rows.scatter_(1, chosen.view(-1, 1), 0.9)
device = torch.device("cuda")
spread(torch.zeros(2, dtype=torch.long).to(device))
""",
    ),
    "what a function chose as its first GPU, where a variable lists those of the wrapper": (
        ("cuda:1", "cuda:0"),
        "dataparallel-home-device",
        """\
def run(cards):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")  # here
    net = nn.Linear(2, 2).to(device)
    net = nn.DataParallel(net, device_ids=cards)
    net(torch.rand(4, 2, device=device))
run([1, 0])
""",
    ),
    "a GPU that the caller chose, where a variable lists those of the wrapper": (
        ("cuda:1", "cuda:0"),
        "dataparallel-home-device",
        """\
def run(cards, device):
    net = nn.Linear(2, 2).to(device)
    net = nn.DataParallel(net, device_ids=cards)  # here
    net(torch.rand(4, 2, device=device))
run([1, 0], torch.device("cuda:0"))
""",
    ),
    "a first GPU that is chosen above the list of those of the wrapper": (
        ("cuda:1", "cuda:0"),
        "dataparallel-home-device",
        """\
def run():
    device = torch.device("cuda")
    net = nn.Linear(2, 2).to(device)
    cards = [1, 0]
    net = nn.DataParallel(net, device_ids=cards)  # here
    net(torch.rand(4, 2, device=device))
run()
""",
    ),
    "a tuple that a collator puts into a batch, and a function that moves lists": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from torch.utils.data import DataLoader
class Pairs:
    def __call__(self, rows):
        ids = torch.tensor([row[:-1] for row in rows])
        return {"ids": ids, "judge": (torch.randint(5, (len(rows), 2)), torch.zeros(len(rows)))}
def sent(one, device):
    if torch.is_tensor(one):
        return one.to(device)
    if isinstance(one, dict):
        return {k: sent(v, device) for k, v in one.items()}
    if isinstance(one, list):
        return [sent(v, device) for v in one]
    return one  # here
table = nn.Embedding(5, 2).cuda()
for batch in DataLoader([[1, 2], [3, 4]], batch_size=2, collate_fn=Pairs()):
    batch = sent(batch, "cuda")
    asked, wanted = batch["judge"]
    table(asked)
""",
    ),
    "a list of all cards, or the cpu where there is none": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
cards = [f"cuda:{i}" for i in range(torch.cuda.device_count())] or ["cpu"]
def scaled(x):
    return x * torch.arange(2)  # here
scaled(torch.ones(2, device=cards[0]))
""",
    ),
    "a kernel on the first of several cards, each of which has a model of its own": (
        ("cuda:0", "cuda:1"),
        "hardcoded-device",
        """\
def smooth(heat):
    kernel = torch.ones(2).cuda()  # here
    return heat * kernel
class Worker:
    def __init__(self, card):
        self.device = torch.device("cuda", card)
        self.net = nn.Linear(2, 2).to(self.device)
    def look(self, frame):
        return smooth(self.net(frame.to(self.device)))
for card in (0, 1):
    Worker(card).look(torch.ones(1, 2))
""",
    ),
    "parts on all the cards that there are, and rows that are sent to the last of them": (
        ("cuda:3", "cuda:0"),
        "input-on-wrong-shard",
        """\
class Part(nn.Module):
    def __init__(self, layers, card, first):
        super().__init__()
        self.layers, self.card, self.first = nn.Sequential(*layers).to(card), card, first
    def forward(self, x):
        return self.layers(x if self.first else x.to(self.card))
class Line(nn.Module):
    def __init__(self, cards):
        super().__init__()
        self.parts = nn.ModuleList(Part([nn.Linear(2, 2)], card, i == 0) for i, card in enumerate(cards))
        self.cards = cards
    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x
def run():
    cards = [torch.device("cuda", i) for i in range(torch.cuda.device_count())]
    line = Line(cards)
    x = torch.rand(4, 2).to(line.cards[-1])  # here
    line(x)
run()
""",
    ),
    "parts of a library's class on two cards, and ids that come to the first": (
        ("cuda:0", "cuda:1"),
        "input-on-wrong-shard",
        """\
from towers import Block
class Stack(nn.Module):
    def __init__(self, cards):
        super().__init__()
        self.cards = cards
        self.blocks = nn.ModuleList(Block(8).to(card) for card in cards)
        self.embed = nn.Embedding(9, 8).to(cards[-1])
    def forward(self, ids):
        return self.embed(ids)
cards = [torch.device("cuda:0"), torch.device("cuda:1")]  # here
net = Stack(cards)
net(torch.ones(2, 8, dtype=torch.long).to(cards[0]))
""",
    ),
    "a package that is called by its bare name, on the way to what fails": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
import tally
def apart(rows):
    tally(rows)
    steps = torch.arange(3)  # here
    return rows + steps
apart(torch.rand(3, device="cuda"))
""",
    ),
    "a wrapper that brings the inputs of each process to the same GPU": (
        ("cuda:1", "cuda:0"),
        "rank-device",
        """\
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
def work(rank):
    dist.init_process_group("nccl", rank=rank, world_size=2)
    torch.cuda.set_device(rank)
    net = nn.Linear(2, 2).to(rank)
    net = DistributedDataParallel(net, device_ids=[0])  # here
    net(torch.rand(3, 2).to(rank)).sum().backward()
torch.multiprocessing.spawn(work, nprocs=2)
""",
    ),
    "what was computed for another use is handed to code that works on the host": (
        ("cuda:0",),
        "host-copy-needed",
        """\
class Ledger:
    def note(self, values):
        self.highest = np.maximum(values, 0.5)
def step(ledger, device):
    wanted = torch.tensor([1.0, 2.0], device=device)
    apart = wanted - torch.rand(2, device=device)
    apart.pow(2).mean().item()
    ledger.note(apart.abs())  # here
step(Ledger(), "cuda")
""",
    ),
    "what a model gives is no tensor, and what comes of it is copied where the host wants it": (
        ("cuda:0",),
        "host-copy-needed",
        """\
from scipy.signal import resample
from transformers import BertConfig, BertModel
model = BertModel(BertConfig()).to("cuda")
found = model(torch.ones(1, 4, dtype=torch.long).to("cuda"))
rows = found.last_hidden_state.mean(-1)
for row in rows:
    print(resample(row / row.max(), 8))  # here
""",
    ),
    "a model that one of two methods moves, of those that have it made": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
class Fitted:
    def __init__(self, device):
        self.device = torch.device(device)
    def built(self):
        scale = 2.0
        return nn.Linear(2, 2), scale
    def fit(self, x):
        net, scale = self.built()
        net.to(self.device)
        self.state = net.state_dict()
        return net(x) * scale
    def ask(self, x):
        model, by = self.built()  # here
        model.load_state_dict(self.state)
        return model(x) * by
fitted = Fitted("cuda")
fitted.fit(torch.rand(3, 2).cuda())
fitted.ask(torch.rand(3, 2).cuda())
""",
    ),
    "statistics that torch computes anew from batches of which it is told no device": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from torch.optim.swa_utils import AveragedModel, update_bn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
    def forward(self, x):
        return self.norm(x)
def run(device):
    net = Net().to(device)
    mean = AveragedModel(net)
    rows = DataLoader(TensorDataset(torch.rand(4, 2)), batch_size=2)
    for (x,) in rows:
        net(x.to(device))
    mean.update_parameters(net)
    update_bn(rows, mean)  # here
run("cuda")
""",
    ),
    "an argument that a check refuses, beside one that the same call moves": (
        ("CPU",),
        "kernel-needs-gpu",
        """\
def want(one):
    if not one.is_cuda:
        raise RuntimeError("a CUDA tensor is wanted")
def picked(rows, ids):
    want(rows)
    want(ids)
    return rows[ids]
def run():
    rows = torch.rand(9, 2)
    ids = rows.sum(1).topk(3).indices
    picked(rows.cuda(), ids)  # here
run()
""",
    ),
    "a field of a graph that a statement takes out beside another that moves": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import barabasi_albert_graph
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = SAGEConv(3, 2)
    def forward(self, x, ends):
        return self.layer(x, ends)
def graph():
    y = torch.randint(0, 2, (9,))
    x = torch.rand(9, 3)
    return Data(x=x, y=y, edge_index=barabasi_albert_graph(9, 2))
device = torch.device("cuda")
found = graph()
x = found.x.to(device)
ends = found.edge_index  # here
net = Net().to(device)
net(x, ends)
""",
    ),
    "the likelihood of a Gaussian process, whose model alone is moved": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
import gpytorch
class Process(gpytorch.models.ApproximateGP):
    def __init__(self, points):
        spread = gpytorch.variational.CholeskyVariationalDistribution(points.size(0))
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, spread))
        self.mean, self.kernel = gpytorch.means.ConstantMean(), gpytorch.kernels.RBFKernel()
    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))
x, y = torch.rand(9, 2), torch.rand(9)
process = Process(x[:3])
noise = gpytorch.likelihoods.GaussianLikelihood()
if torch.cuda.is_available():
    x, y = x.cuda(), y.cuda()
    process = process.cuda()  # here
bound = gpytorch.mlls.VariationalELBO(noise, process, num_data=9)
loss = -bound(process(x), y)
""",
    ),
    "a process that is made anew, whose kernel computes once it is asked": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ZeroMean
from gpytorch.models import ExactGP
class Process(ExactGP):
    def __init__(self, x, y, noise):
        super().__init__(x, y, noise)
        self.mean, self.kernel = ZeroMean(), ScaleKernel(RBFKernel())
    def forward(self, x):
        return MultivariateNormal(self.mean(x), self.kernel(x))
def asked(x, y, device):
    noise = GaussianLikelihood()
    process = Process(x, y, noise)  # here
    process.eval()
    return noise(process(x))
asked(torch.rand(9, 2).cuda(), torch.rand(9).cuda(), torch.device("cuda"))
""",
    ),
    "one of two inputs that a program brings to the GPU of the first part is for the second": (
        ("cuda:1", "cuda:0"),
        "input-on-wrong-shard",
        """\
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(2, 2).to("cuda:0"), nn.Linear(3, 2).to("cuda:1")
    def forward(self, x, y):
        z = self.left(x)
        return z + self.right(y).to(z.device)  # here
net = Two()
for rows in DataLoader(TensorDataset(torch.rand(4, 2), torch.rand(4, 3))):
    x, y = [row.to("cuda:0") for row in rows]
    net(x, y)
""",
    ),
    "tokens that are made where the last part of a model is": (
        ("cuda:1", "cuda:0"),
        "input-on-wrong-shard",
        """\
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 2).to("cuda:0")
        self.end = nn.Linear(2, 1).to("cuda:1")
    def forward(self, ids):
        h = self.table(ids)
        return self.end(h.to("cuda:1"))
class Judge:
    def __init__(self):
        self.net = Two()
    def judge(self, words):
        ids = torch.tensor(words, device=self.net.end.weight.device)  # here
        return self.net(ids)
Judge().judge([1, 2])
""",
    ),
    "a mask that a function computes of two, one of which is made by a class": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)
    def forward(self, x):
        return self.body(x) + self.mask(x)
    def mask(self, x):
        ahead = nn.Transformer.generate_square_subsequent_mask(3)
        padded = torch.zeros(3, 3)
        return ahead + padded  # here
Net().cuda()(torch.rand(3, 3).cuda())
""",
    ),
    "an optimizer of the user's that copies the weights before a library prepares the model": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
from accelerate import Accelerator
class Slow(torch.optim.Optimizer):
    def __init__(self, inner):
        self.inner = inner
        self.param_groups = inner.param_groups
        self.far = [p.detach().clone() for group in self.param_groups for p in group["params"]]
    def step(self):
        self.inner.step()
        for group in self.param_groups:
            for p, far in zip(group["params"], self.far):
                far.add_(p - far, alpha=0.5)
def choose(net):
    return Slow(torch.optim.SGD([{"params": list(net.parameters())}], lr=0.1))
def main():
    accelerator = Accelerator()
    net = nn.Linear(2, 2)
    steps = choose(net)  # here
    net = accelerator.prepare(net)
    steps.step()
main()
""",
    ),
    "a model that is run by a function above the statement that moves it, and calls a kernel": (
        ("CPU",),
        "kernel-needs-gpu",
        """\
def fused(a):
    if not a.is_cuda:
        raise RuntimeError("fused: a has to be a CUDA tensor")  # failed
    return a * 2
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Linear(2, 2)
    def forward(self, x):
        return fused(self.front(x))
def sizes(net):
    return net(torch.zeros(1, 2)).shape
net = Net()
print(sizes(net))  # here
net.cuda()
""",
    ),
    "a batch that a loop brings to the GPU of the last part of a model": (
        ("cuda:1", "cuda:0"),
        "input-on-wrong-shard",
        """\
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.start, self.end = nn.Linear(2, 2), nn.Linear(2, 1)
    def spread(self, one, other):
        self.one, self.other = torch.device(one), torch.device(other)
        self.start.to(self.one)
        self.end.to(self.other)
        return self
    def forward(self, x):
        h = self.start(x)
        return self.end(h.to(self.other))
def run(net, rows, device):
    for x, y in rows:
        x = x.to(device)  # here
        F.mse_loss(net(x), y.to(device)).backward()
net = Two().spread("cuda:0", "cuda:1")
run(net, DataLoader(TensorDataset(torch.rand(4, 2), torch.rand(4, 1))), net.other)
""",
    ),
    "the device of a split model's input is asked of its weights, of which the last comes first": (
        ("cuda:1", "cuda:0"),
        "input-on-wrong-shard",
        """\
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.end = nn.Linear(2, 1).to("cuda:1")
        self.start = nn.Linear(2, 2).to("cuda:0")
    def forward(self, x):
        h = self.start(x)
        return self.end(h.to("cuda:1"))
def place_of(net):
    return next(net.parameters()).device  # here
net = Two()
for x in DataLoader(torch.rand(4, 2)):
    net(x.to(place_of(net)))
""",
    ),
    "what stacks a batch is given another GPU than the first part is on": (
        ("cuda:0", "cuda:1"),
        "input-on-wrong-shard",
        """\
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.start, self.end = nn.Linear(2, 2).to("cuda:1"), nn.Linear(2, 1).to("cuda:0")
    def forward(self, x):
        h = self.start(x)
        return self.end(h.to("cuda:0"))
class Stack:
    def __init__(self, device):
        self.device = device
    def __call__(self, rows):
        return torch.stack(rows).to(self.device)
def main(gpus):
    net = Two()
    stack = Stack(gpus[0])  # here
    for x in DataLoader(torch.rand(4, 2), collate_fn=stack):
        net(x)
main(["cuda:0", "cuda:1"])
""",
    ),
    "adapters that a function adds to a model that another function built": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
from adapters import AutoAdapterModel
def load():
    net = AutoAdapterModel.from_pretrained("bert")
    net.add_classification_head("old")
    return net
def learn(net, task):
    net.add_adapter(task)
    net.train_adapter(task)
def main(device):
    net = load().to(device)
    learn(net, "new")  # here
    net(torch.tensor([[1]]).to(device))
main("cuda")
""",
    ),
    "a table that a method keeps until it is too short, and no replica asks where it is": (
        ("cuda:1", "cuda:0"),
        "dataparallel-replica-state",
        """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.ramp = nn.Linear(4, 4), None
    def steps(self, n, device):
        if self.ramp is None or len(self.ramp) < n:  # here
            self.ramp = torch.linspace(0, 1, n, device=device)
        return self.ramp[:n]
    def forward(self, x):
        return self.body(x) * self.steps(4, x.device)
net = Net().cuda()
net(torch.rand(2, 4).cuda())
many = nn.DataParallel(net)
many(torch.rand(4, 4).cuda())
""",
    ),
    "what a method puts into a dict of a module that is replicated": (
        ("cuda:1", "cuda:0"),
        "dataparallel-replica-state",
        """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.kept = {}
    def remember(self, x):
        self.kept["mean"] = self.body(x).mean(0)
    def forward(self, x):
        middle = self.kept["mean"]  # here
        return self.body(x) - middle
net = Net().cuda()
net.remember(torch.rand(2, 4).cuda())
nn.DataParallel(net)(torch.rand(4, 4).cuda())
""",
    ),
    "scores of many rounds that are joined for what works on the host": (
        ("cuda:0",),
        "host-copy-needed",
        """\
from sklearn.metrics import average_precision_score
def judged(net, rows, wanted):
    parts = []
    for row in rows:
        parts.append(net(row.cuda()))
    every = torch.stack(parts)  # here
    return average_precision_score(wanted, every)
judged(nn.Linear(2, 1).cuda(), torch.rand(4, 2), [0, 1, 1, 0])
""",
    ),
    "a model that is moved after the method that loads the state of its optimizer": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
class Run:
    def __init__(self, device, path):
        self.net = nn.Linear(2, 2)
        self.steps = torch.optim.Adagrad(self.net.parameters())
        self.device = device
        self.go_on(path)
        self.net.to(self.device)  # here
    def go_on(self, path):
        self.steps.load_state_dict(torch.load(path, map_location="cpu"))
    def once(self, x):
        self.net(x).sum().backward()
        self.steps.step()
Run("cuda", "last.pt").once(torch.rand(2, 2).cuda())
""",
    ),
    "a process that joins the others by its rank and does not choose its device": (
        ("cuda:0", "cuda:1"),
        "rank-device",
        """\
import torch.distributed as dist
def join(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)  # here
def send(batch):
    return [one.to("cuda") for one in batch]
def work(rank, world):
    join(rank, world)
    net = nn.Linear(2, 2).to(rank)
    x, y = send([torch.rand(3, 2), torch.rand(3, 2)])
    F.mse_loss(net(x), y)
torch.multiprocessing.spawn(work, (2,), nprocs=2)
""",
    ),
    "a device that a process keeps, though it joins the others by its rank": (
        ("cuda:0", "cuda:1"),
        "rank-device",
        """\
import torch.distributed as dist
def work(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    here = torch.device("cuda")  # here
    net = nn.Linear(2, 2).to(rank)
    F.mse_loss(net(torch.rand(3, 2).to(rank)), torch.rand(3, 2).to(here))
torch.multiprocessing.spawn(work, (2,), nprocs=2)
""",
    ),
    "a copy on the GPU of weights that their policy keeps on the host": (
        ("cuda:0", "cpu"),
        "zero-offload",
        """\
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel
class Start:
    def __init__(self, net, device):
        self.rows = [p.detach().clone().to(device) for p in net.parameters()]  # here
    def away(self, net):
        return [(p.detach() - row).norm() for p, row in zip(net.parameters(), self.rows)]
def main(host=True):
    policy = CPUOffload(offload_params=host)
    net = FullyShardedDataParallel(nn.Linear(2, 2), cpu_offload=policy, device_id=0)
    print(Start(net, torch.device("cuda", 0)).away(net))
main()
""",
    ),
    "what a function makes on the GPU for weights that their policy keeps on the host": (
        ("cuda:0", "cpu"),
        "zero-offload",
        """\
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel
def largest(net, device):
    most = torch.zeros(1, device=device)
    for p in net.parameters():
        most.add_(p.grad.detach().abs().sum())  # here
    return most
def main(host=True):
    policy = CPUOffload(offload_params=host)
    net = FullyShardedDataParallel(nn.Linear(2, 2), cpu_offload=policy, device_id=0)
    net(torch.rand(2, 2, device="cuda")).sum().backward()
    print(largest(net, torch.device("cuda", 0)))
main()
""",
    ),
    "a move to the first GPU of what is wrapped for others, which are given by position": (
        ("cuda:1", "cuda:0"),
        "dataparallel-home-device",
        """\
def wrapped(net, ids):
    net.cuda()  # here
    return nn.DataParallel(net, ids)
net = wrapped(nn.Linear(2, 2), [1, 0])
net(torch.rand(2, 2).to("cuda:1"))
""",
    ),
    "a model on the first GPU, whose wrapper lists others by a variable": (
        ("cuda:2", "cuda:0"),
        "dataparallel-home-device",
        """\
def wrapped(net, cards):
    net = net.to("cuda")  # here
    return nn.DataParallel(net, device_ids=cards)
wrapped(nn.Linear(2, 2), [2, 1])(torch.rand(2, 2).to("cuda:2"))
""",
    ),
    "a model that is split where it is told to be, and wrapped where there are several GPUs": (
        ("cuda:0", "cuda:1"),
        "device-map-under-training",
        """\
class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        self.low, self.high = nn.Linear(2, 2), nn.Linear(2, 2)
    def spread(self, first, second):
        self.low.to(first)
        self.high.to(second)
        self.second = second
    def forward(self, x):
        return self.high(self.low(x).to(self.second))
net = Halves()
net.spread("cuda:0", "cuda:1")
if torch.cuda.device_count() > 1:  # here
    net = nn.DataParallel(net)
net(torch.rand(4, 2).cuda())
""",
    ),
    "a model that is always split, and wrapped where there are several GPUs": (
        ("cuda:0", "cuda:1"),
        "device-map-under-training",
        """\
class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        self.low, self.high = nn.Linear(2, 2).to("cuda:0"), nn.Linear(2, 2).to("cuda:1")
    def forward(self, x):
        return self.high(self.low(x).to("cuda:1"))
net = Halves()
if torch.cuda.device_count() > 1:
    net = nn.DataParallel(net)  # here
net(torch.rand(4, 2).cuda())
""",
    ),
    "a random state that was loaded with all the rest": (
        (),
        "checkpoint-location",
        """\
def resume(net, path):
    saved = torch.load(path, map_location="cuda")  # here
    net.load_state_dict(saved["net"])
    torch.set_rng_state(saved["random"])
resume(nn.Linear(2, 2).cuda(), "last.pt")
""",
    ),
    "embeddings that are set after the move": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
from transformers import AutoModel
net = AutoModel.from_pretrained("some").to("cuda")
wider = nn.Embedding(99, 8)
net.set_input_embeddings(wider)  # here
net(torch.zeros(1, 3, dtype=torch.long, device="cuda"))
""",
    ),
    "a part that is not brought where the others are, by whoever puts them away": (
        ("cuda:0", "cpu"),
        "low-memory-mode",
        """\
from contextlib import contextmanager
class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
    def forward(self, x):
        return self.inner(x)
class Room:
    def __init__(self, low_vram):
        self.low_vram, self.ear, self.mixer = low_vram, nn.Linear(4, 4), Mixer()
        if not low_vram:
            self.ear.to("cuda"), self.mixer.to("cuda")
    @contextmanager
    def awake(self, part):
        if self.low_vram:
            part.to("cuda")
        yield
        if self.low_vram:
            part.to("cpu")
    def hear(self, tone):
        with self.awake(self.ear):
            heard = self.ear(tone)
            return self.mixer(heard)  # here
Room(True).hear(torch.rand(4, device="cuda"))
""",
    ),
    "a vector beside what a library's layer gives, alone or in a tuple, and a switch that ends off": (
        ("cuda:0", "cpu"),
        "unregistered-tensor",
        """\
from transformers import AutoModel
class Pushed(nn.Module):
    def __init__(self, inner, by):
        super().__init__()
        self.inner = inner
        self.by = by / by.norm()  # here
        self.on = True
    def forward(self, *args, **kwargs):
        out = self.inner(*args, **kwargs)
        states = out[0] if isinstance(out, tuple) else out
        if self.on:
            states = states + self.by
        return (states, *out[1:]) if isinstance(out, tuple) else states
net = AutoModel.from_pretrained("some")
pushed = net.encoder.layer[1] = Pushed(net.encoder.layer[1], torch.randn(8))
net.cuda()
net(torch.zeros(1, 3, dtype=torch.long, device="cuda"))
pushed.on = False
""",
    ),
    "an index of what nobody knows": (
        ("cpu", "cuda:0"),
        "index-device",
        """\
def reorder(cache, chosen):
    rows = torch.tensor([one.row for one in chosen])  # here
    cache.keys = cache.keys.index_select(0, rows)
""",
    ),
    "some layers of a library's model, called one by one": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
from torchvision.models import vgg16
class Texture:
    def __init__(self, device):
        self.layers = vgg16(weights=None).features[:9].eval()  # here
    def __call__(self, image):
        for n, layer in enumerate(self.layers):
            image = layer(image)
        return image
device = torch.device("cuda")
Texture(device)(torch.rand(1, 3, 8, 8, device=device))
""",
    ),
    "clones of a metric": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
from torchmetrics import MetricCollection
from torchmetrics.classification import BinaryF1Score
def metrics():
    all_ = MetricCollection([BinaryF1Score()])
    return {part: all_.clone(prefix=part) for part in ("fit", "test")}  # here
found = torch.rand(4, device="cuda")
metrics()["test"].update(found, found > 0.5)
""",
    ),
    "a process that is asked about points elsewhere than those it was trained with": (
        ("cpu", "cuda:0"),
        "input-not-moved",
        """\
import gpytorch
class Depth(gpytorch.models.ExactGP):
    def __init__(self, x, y, noise):
        super().__init__(x, y, noise)
        self.mean = gpytorch.means.ConstantMean()
    def forward(self, x):
        return self.mean(x)
seen = torch.rand(9, device="cuda")
process = Depth(seen, seen.sin(), None).cuda()
asked = torch.linspace(0, 2, 5)  # here
process(asked)
""",
    ),
    "batches of a loader that was not prepared, padded before they meet a weight": (
        ("cpu", "cuda:0"),
        "input-not-moved",
        """\
from accelerate import Accelerator
class Waves(Dataset):
    def __init__(self, seed):
        self.rows = np.random.default_rng(seed).normal(size=(8, 4, 2))
    def __len__(self):
        return 8
    def __getitem__(self, n):
        return self.rows[n], self.rows[n, 0, 0]
helper, net = Accelerator(), nn.Sequential(nn.ConstantPad1d(1, 0.0), nn.Conv1d(2, 1, 3))
known, new = DataLoader(Waves(0)), DataLoader(Waves(1))
net, known = helper.prepare(net, known)  # here
for x, y in new:
    net(x.transpose(1, 2))
""",
    ),
    "a part that computes a weight anew in a function that knows no device": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
from torch.nn.utils import parametrize
class Shifted(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.by = nn.Parameter(torch.zeros(size))
    def forward(self, weight):
        return weight + self.by
def adapt(net):
    parametrize.register_parametrization(net, "weight", Shifted(4))  # here
    return list(net.parameters())
def main():
    device = torch.device("cuda")
    net = nn.Linear(4, 4).to(device)
    adapt(net)
main()
""",
    ),
    "what host code is given by a name that meets others on the accelerator before": (
        ("cuda:0", "cpu"),
        "host-copy-needed",
        """\
from sklearn.decomposition import PCA
net, rows = nn.Linear(4, 4).cuda(), torch.rand(9, 4).cuda()
kinds = torch.arange(9).cuda() % 3
with torch.no_grad():
    found = torch.cat([net(part) for part in rows.split(3)])
    middle = torch.stack([found[kinds == k].mean(0) for k in range(3)])
flat = PCA(2).fit_transform(found)  # here
""",
    ),
    "what host code is given by a name that meets nothing else": (
        ("cuda:0", "cpu"),
        "host-copy-needed",
        """\
from sklearn.decomposition import PCA
net, rows = nn.Linear(4, 4).cuda(), torch.rand(9, 4).cuda()
with torch.no_grad():
    found = torch.cat([net(part) for part in rows.split(3)])  # here
print(found.shape, found[0])
flat = PCA(2).fit_transform(found)
""",
    ),
    "an input that is sent to where a split model's last part is, and meets a table of the first": (
        ("cuda:0", "cuda:1"),
        "input-on-wrong-shard",
        """\
class Mix(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.register_buffer("rows", rows)
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        return self.fc(self.rows @ x)
class Staged(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Mix(torch.eye(3)).to("cuda:0")
        self.last = nn.Linear(3, 3).to("cuda:1")
    @property
    def device(self):
        return self.last.weight.device
    def forward(self, x):
        return self.last(self.first(x).to("cuda:1"))
def step(model, past):
    return model(past.to(model.device)).sum()  # here
step(Staged(), torch.rand(3, 3))
""",
    ),
    "a loss that is kept as it is given, beside a network that is moved": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
class Weighted(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.register_buffer("weight", torch.tensor(weight))
    def forward(self, x):
        return (x * self.weight).sum()
class Fit:
    def __init__(self, net, criterion, options):
        self.device = torch.device(options)
        self.net = net.to(self.device)
        self.criterion = criterion  # here
    def run(self, x):
        return self.criterion(self.net(x.to(self.device)))
Fit(nn.Linear(3, 3), Weighted([1.0, 2.0, 3.0]), "cuda").run(torch.rand(2, 3))
""",
    ),
    "what a mode sends back to the host, and its option": (
        ("cpu", "cuda:0"),
        "low-memory-mode",
        """\
import argparse
class Painter:
    def __init__(self, low_vram):
        self.low_vram, self.reader = low_vram, nn.Linear(4, 4).cuda()
    def read(self, text):
        found = self.reader(text)
        if self.low_vram:
            self.reader.to("cpu")
        return found
parser = argparse.ArgumentParser()
parser.add_argument("--low-vram", action=argparse.BooleanOptionalAction, default=True)  # here
options = parser.parse_args()
painter, words = Painter(low_vram=options.low_vram), torch.rand(1, 4, device="cuda")
painter.read(words) - painter.read(words)
""",
    ),
    "a part that computes a weight anew, hung on a layer that was moved": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
from torch.nn.utils.parametrize import register_parametrization
class Shifted(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.by = nn.Parameter(torch.zeros(size))
    def forward(self, weight):
        return weight + self.by
net = nn.Linear(4, 4).cuda()
register_parametrization(net, "weight", Shifted(4))  # here
""",
    ),
    "numbers that an object lists, and hands to NumPy as a list": (
        ("cuda:0",),
        "host-copy-needed",
        """\
class Log:
    def __init__(self):
        self.kept = []
    def note(self, ours, theirs):
        self.kept.extend(ours)  # here
        self.count = len(theirs)
    def mean(self):
        return np.mean(self.kept)
net, log = nn.Linear(4, 1).cuda(), Log()
said = net(torch.rand(3, 4).cuda()).squeeze(1)
log.note(*(said, said))
log.mean()
""",
    ),
    "what FSDP keeps on the host where an option says so": (
        ("cuda:0", "cpu"),
        "zero-offload",
        """\
from dataclasses import dataclass
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel
@dataclass
class Plan:
    rank: int = 0
    spare_gpu: bool = True  # here
plan = Plan()
keeps = CPUOffload(offload_params=plan.spare_gpu)
net = FullyShardedDataParallel(nn.Linear(2, 2), cpu_offload=keeps)
seen = torch.zeros(2, device="cuda")
for one in net.parameters():
    seen += one.grad.norm(dim=0)
""",
    ),
    "a last layer that is its own loss": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
device = torch.device("cuda")
net = nn.Linear(4, 8).to(device)
top = nn.AdaptiveLogSoftmaxWithLoss(8, 100, cutoffs=[10])  # here
y = torch.zeros(2, dtype=torch.long, device=device)
top(net(torch.rand(2, 4, device=device)), y).loss.backward()
""",
    ),
    "layers in a list, one for each part of a library's model, that its hooks call": (
        ("cpu", "cuda:0"),
        "unregistered-submodule",
        """\
from transformers import AutoModel
class Probed(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.probes = [nn.Linear(8, 2) for _ in body.encoder.layer]  # here
        for n, part in enumerate(body.encoder.layer):
            part.output.register_forward_hook(self.probe(n))
    def probe(self, n):
        return lambda part, given, found: self.probes[n](found)
    def forward(self, x):
        return self.body(x)
net = Probed(AutoModel.from_pretrained("m")).cuda()
net(torch.ones(2, 4, dtype=torch.long).cuda())
""",
    ),
    "the place of each node that is drawn by a generator of the host, and picked on the GPU": (
        ("cuda:0", "cpu"),
        "index-device",
        """\
seeded = torch.Generator().manual_seed(0)
def pairs(known):
    first = known[0]
    other = torch.randint(5, (first.numel(),), generator=seeded)
    return first, other  # here
rows = torch.rand(5, 2, device="cuda")
first, other = pairs(torch.zeros(2, 3, dtype=torch.long, device="cuda"))
rows.index_select(0, first) + rows.index_select(0, other)
""",
    ),
    "an order that is drawn and sorted on the host, in a method that is handed the rows": (
        ("cuda:0", "cpu"),
        "index-device",
        """\
class Mix(nn.Module):
    def forward(self, x):
        order = torch.rand(len(x)).argsort()  # here
        return torch.gather(x, 0, order.unsqueeze(1))
Mix()(torch.rand(3, 1, device="cuda"))
""",
    ),
    "what a judge is to say, all ones": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
device = torch.device("cuda")
judge, loss = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid()).to(device), nn.BCELoss()
said = judge(torch.rand(3, 4).to(device))
real = torch.ones(3, 1)  # here
loss(said, real).backward()
""",
    ),
    "what a list of names does not name is not moved": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
NAMES = ("seen", "known")
def rows(examples):
    return {name: torch.stack([one[name] for one in examples]) for name in ("seen", "known", "said")}
net = nn.Bilinear(2, 2, 1).cuda()
data = [{"seen": torch.rand(2), "known": torch.rand(2), "said": torch.rand(2)} for _ in range(4)]
for batch in DataLoader(data, collate_fn=rows):
    batch = {k: (v.cuda() if k in NAMES else v) for k, v in batch.items()}  # here
    net(batch["seen"], batch["said"])
""",
    ),
    "what is beside the moved ones in a union": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
table = nn.Embedding(4, 2).cuda()
for row in DataLoader([{"x_id": torch.tensor(1), "x_w": torch.rand(2)}, {"x_id": torch.tensor(2), "x_w": torch.rand(2)}]):
    row = {k: v.cuda() for k, v in row.items() if k.endswith("_id")} | {k: v for k, v in row.items() if not k.endswith("_id")}  # here
    table(row["x_id"]) * row["x_w"]
""",
    ),
    "the one of two networks that a function returns unmoved": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
def networks(device):
    big = nn.Linear(4, 4)
    small = nn.Linear(4, 4)
    small.load_state_dict(big.state_dict())
    return big.eval(), small.to(device)  # here
big, small = networks("cuda")
x = torch.rand(2, 4, device="cuda")
small(x) - big(x)
""",
    ),
    "a copy of a network that its keeper's own move forgets": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
class Player:
    def __init__(self):
        self.net = nn.Linear(4, 2)
        self.past = copy.deepcopy(self.net)
    def to(self, device):
        self.net.to(device)  # here
        return self
player = Player().to("cuda")
x = torch.rand(2, 4, device="cuda")
player.net(x) + player.past(x)
""",
    ),
    "a frozen network beside one that is moved by hand, and one that a library prepares": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
from accelerate import Accelerator
def main():
    helper = Accelerator()
    judge, prior, net = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
    prior.to(helper.device)  # here
    net, opt = helper.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))
    x = net(torch.rand(2, 4, device=helper.device))
    prior(x) + judge(x)
main()
""",
    ),
    "an average of the weights, made before they move": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
from torch.optim.swa_utils import AveragedModel
def main(device="cuda"):
    net = nn.Linear(4, 4)
    mean = AveragedModel(net)  # here
    net.to(device)
    mean(torch.rand(2, 4).to(device))
main()
""",
    ),
    "a step that is tried on the host, before the model moves": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
net = nn.Linear(4, 2)
opt = torch.optim.Adam(net.parameters())
def once(x):
    net(x).sum().backward()
    opt.step()
once(torch.rand(3, 4))
net.cuda()  # here
once(torch.rand(3, 4).cuda())
""",
    ),
    "momenta that a restart puts into an optimizer of the user's as they were loaded": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
class Heavy(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})
    def step(self):
        for group in self.param_groups:
            for w in group["params"]:
                mine = self.state[w]
                if not mine:
                    mine["speed"] = torch.zeros_like(w)
                w.sub_(mine["speed"])
    def resume(self, rows):
        for w, row in zip(self.param_groups[0]["params"], rows):
            self.state[w] = dict(row)  # here
net = nn.Linear(4, 2).cuda()
opt = Heavy(net.parameters())
opt.resume(torch.load("run.pt", map_location="cpu")["rows"])
opt.step()
""",
    ),
    "an optimizer with state from the start, whose model a library prepares later": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
from accelerate import Accelerator
helper = Accelerator()
net = nn.Linear(4, 2)
opt = torch.optim.Adagrad(net.parameters())  # here
net = helper.prepare(net)
net(torch.rand(3, 4, device=helper.device)).sum().backward()
opt.step()
""",
    ),
    "an optimizer with state from the start, whose model a condition moves later": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
net = nn.Linear(4, 2)
opt = torch.optim.Adagrad(net.parameters())  # here
if torch.cuda.is_available():
    net.cuda()
net(torch.rand(3, 4).cuda()).sum().backward()
opt.step()
""",
    ),
    "shards that FSDP keeps on the host, and an average of them on the GPU": (
        ("cuda:0", "cpu"),
        "zero-offload",
        """\
from torch.distributed.fsdp import CPUOffload
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
def main():
    net = FSDP(nn.Linear(2, 2), cpu_offload=CPUOffload(offload_params=True))
    means = [one.detach().clone().cuda() for one in net.parameters()]
    for mean, one in zip(means, net.parameters()):
        mean.mul_(0.9).add_(one.detach())  # here
main()
""",
    ),
    "what FSDP shards under a policy that offloads": (
        ("cuda:0", "cpu"),
        "zero-offload",
        """\
from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard
policy = CPUOffloadPolicy()
net = fully_shard(nn.Linear(2, 2), offload_policy=policy)
norm = torch.zeros(2, device="cuda")
for name, one in net.named_parameters():
    norm += one.data.norm(dim=0)  # here
""",
    ),
    "a scale on the GPU that is handed to an optimizer whose weights are on the host": (
        ("cpu", "cuda:0"),
        "zero-offload",
        """\
class HostSGD:
    def __init__(self, weights):
        self.offload = True
        self.weights = list(weights)
        self.masters = [one.detach().cpu().clone() for one in self.weights]
    def update(self, rate, scale):
        for one, master in zip(self.weights, self.masters):
            master.sub_(rate * one.grad.cpu().div(scale))
net = nn.Linear(2, 2).cuda()
steps = HostSGD(net.parameters())
scale = torch.full((1,), 64.0, device="cuda")
(net(torch.rand(1, 2, device="cuda")).sum() * scale).backward()
steps.update(0.1, scale)  # here
""",
    ),
    "a weight that is read where hooks bring its layer for its own forward alone": (
        ("cuda:0", "cpu"),
        "offloaded-to-cpu",
        """\
def paged(net, device):
    def before(layer, given):
        layer.to(device)
    def after(layer, given, made):
        layer.to("cpu")
    for layer in net.modules():
        if not list(layer.children()):
            layer.register_forward_pre_hook(before)
            layer.register_forward_hook(after)
class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(9, 4), nn.Linear(4, 4)
    def forward(self, ids):
        return self.out(self.table(ids))
net = Words()
paged(net, torch.device("cuda:0"))
made = net(torch.ones(2, dtype=torch.long, device="cuda:0"))
print(made @ net.table.weight.T)  # here
""",
    ),
    "a tied weight that the forward reads, of a part that hooks bring and take away": (
        ("cuda:0", "cpu"),
        "offloaded-to-cpu",
        """\
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.norm = nn.Embedding(9, 4), nn.LayerNorm(4)
    def forward(self, ids):
        return F.linear(self.norm(self.table(ids)), self.table.weight)  # here
def bring(part, given):
    part.to("cuda:0")
def leave(part, given, made):
    part.to("cpu")
net = Tied()
net.norm.to("cuda:0")
net.table.register_forward_pre_hook(bring)
net.table.register_forward_hook(leave)
net(torch.ones(2, dtype=torch.long, device="cuda:0"))
""",
    ),
    "a model that was forgotten, whose hooks only look": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
seen = []
net = nn.Embedding(9, 4)  # here
net.register_forward_hook(lambda layer, given, made: seen.append(made.cpu()))
net(torch.ones(2, dtype=torch.long, device="cuda:0"))
""",
    ),
    "a gradient that an optimizer meets whose weights are on the host": (
        ("cuda:0", "cpu"),
        "zero-offload",
        """\
class HostMomentum:
    def __init__(self, weights, offload=True):
        self.weights, self.kept = list(weights), []
        for one in self.weights:
            home = torch.device("cpu") if offload else one.device
            master = one.detach().to(home, torch.float32, copy=True)
            self.kept.append((master, torch.zeros_like(master)))
    def step(self):
        for one, (master, speed) in zip(self.weights, self.kept):
            slope = one.grad.float()  # here
            speed.mul_(0.9).add_(slope)
            master.sub_(speed)
net = nn.Linear(2, 2).cuda()
steps = HostMomentum(net.parameters())
net(torch.rand(1, 2, device="cuda")).sum().backward()
steps.step()
""",
    ),
    "a weight that an optimizer meets which keeps its copy on the host": (
        ("cuda:0", "cpu"),
        "zero-offload",
        """\
class HostDecay:
    \"\"\"Offloads what it keeps of a model.\"\"\"
    def __init__(self, weights):
        self.weights = list(weights)
        self.masters = [one.detach().cpu().clone() for one in self.weights]
    def decay(self, rate):
        for one, master in zip(self.weights, self.masters):
            master.sub_(one, alpha=rate)  # here
steps = HostDecay(nn.Linear(2, 2).cuda().parameters())
steps.decay(0.1)
""",
    ),
    "values of a run that go through a loop beside the weights": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
def blank(weights):
    return [torch.zeros(one.shape) for one in weights]  # here
net = nn.Linear(2, 2).cuda()
weights = list(net.parameters())
slopes = torch.autograd.grad(net(torch.rand(1, 2, device="cuda")).sum(), weights)
for one, slope, shift in zip(weights, slopes, blank(weights)):
    one.data -= 0.1 * (slope - shift)
""",
    ),
    "ids that a split model's method is handed, and that meet a weight of its first part": (
        ("cuda:0", "cuda:1"),
        "input-on-wrong-shard",
        """\
from accelerate import dispatch_model
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(9, 4), nn.Linear(4, 4)
    def forward(self, ids):
        return self.out(F.embedding(ids, self.table.weight))
net = dispatch_model(Reader(), device_map={"table": 1, "out": 0})
place = torch.device("cuda:0")  # here
ids = torch.tensor([1, 2]).to(place)
net(ids)
""",
    ),
    "a loader that was forgotten where its model is prepared": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from accelerate import Accelerator
def main():
    accelerator = Accelerator()
    rows = DataLoader(TensorDataset(torch.rand(8, 2), torch.rand(8, 1)), batch_size=4)
    net = nn.Linear(2, 1)
    steps = torch.optim.SGD(net.parameters(), lr=0.1)
    net, steps = accelerator.prepare(net, steps)  # here
    for x, y in rows:
        accelerator.backward(F.mse_loss(net(x), y))
        steps.step()
main()
""",
    ),
    "a copy of some rows of a layer's weight, which is no parameter": (
        ("cpu", "cuda:0"),
        "unregistered-tensor",
        """\
from transformers import GPT2Config, GPT2LMHeadModel
class Prompted(nn.Module):
    def __init__(self, lm):
        super().__init__()
        self.lm = lm
        words = lm.get_input_embeddings()
        self.start = words.weight[:3].detach().clone()  # here
    def forward(self, ids):
        rows = self.lm.get_input_embeddings()(ids)
        start = self.start.expand(len(ids), -1, -1)
        return self.lm(inputs_embeds=torch.cat([start, rows], dim=1))
net = Prompted(GPT2LMHeadModel(GPT2Config())).cuda()
net(torch.zeros(1, 2, dtype=torch.long).cuda())
""",
    ),
    "the labels of a split model, sent to the part that does not give its result": (
        ("cuda:1", "cuda:0"),
        "input-on-wrong-shard",
        """\
class Halves(nn.Module):
    def __init__(self, one, two):
        super().__init__()
        self.one, self.two = one, two
        self.low, self.high = nn.Linear(2, 4).to(one), nn.Linear(4, 3).to(two)
    def forward(self, x):
        return self.high(self.low(x).to(self.two))
class Run:
    def __init__(self, devices):
        self.net = Halves(*devices)
        self.loss = nn.CrossEntropyLoss(weight=torch.ones(3).to(self.net.two))
    def step(self, x, kinds):
        x = x.to(self.net.one)
        kinds = kinds.to(self.net.one)  # here
        return self.loss(self.net(x), kinds)
Run(["cuda:0", "cuda:1"]).step(torch.rand(4, 2), torch.randint(3, (4,)))
""",
    ),
    "what a program's own loss is given, on the GPU of another part": (
        ("cuda:1", "cuda:0"),
        "cross-shard-op",
        """\
class Halves(nn.Module):
    def __init__(self, one, two):
        super().__init__()
        self.two = two
        self.low, self.high = nn.Linear(2, 4).to(one), nn.Linear(4, 3).to(two)
    def forward(self, x):
        return self.high(self.low(x).to(self.two))
class Smooth(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("prior", torch.ones(3))
    def forward(self, scores, kinds):
        return F.cross_entropy(scores + self.prior, kinds)
def main():
    one, two = torch.device("cuda:0"), torch.device("cuda:1")
    net, loss = Halves(one, two), Smooth().to(two)
    for x, kinds in DataLoader(TensorDataset(torch.rand(4, 2), torch.randint(3, (4,)))):
        x = x.to(one)
        kinds = kinds.to(one)  # here
        loss(net(x), kinds)
main()
""",
    ),
    "a model that was forgotten in a program whose optimizer offloads": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
class OffloadedSteps:
    def __init__(self, weights):
        self.offload_optimizer = True
        self.masters = [one.detach().cpu() for one in weights]
def main(device):
    net = nn.Linear(2, 2)  # here
    steps = OffloadedSteps(net.parameters())
    x = torch.rand(3, 2).to(device)
    return net(x), steps
main(torch.device("cuda"))
""",
    ),
    "a parameter of a class that says itself that it stays on the host": (
        ("cuda:0", "cpu"),
        "low-memory-mode",
        """\
class Streamed(nn.Module):
    \"\"\"A layer of the low_mem mode.\"\"\"
    def __init__(self, width):
        super().__init__()
        self.inner, self.gain = nn.Linear(width, width), nn.Parameter(torch.ones(width))
    def forward(self, x):
        y = F.linear(x, self.inner.weight.to(x.device), self.inner.bias.to(x.device))
        return y * self.gain  # here
def main(device):
    layer = Streamed(2)
    return layer(torch.rand(3, 2).to(device))
main(torch.device("cuda"))
""",
    ),
    "state that is put into an optimizer of torch's by hand": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
net = nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
saved = torch.load("best.pt", map_location="cpu")
for p, mean in zip(net.parameters(), saved["means"]):
    optimizer.state[p]["momentum_buffer"] = mean.clone()  # here
net(torch.rand(1, 2, device="cuda")).sum().backward()
optimizer.step()
""",
    ),
    "the state of a weight, put in at once": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
net = nn.Linear(2, 2).cuda()
optimizer = torch.optim.Adam(net.parameters())
def restart(optimizer, p):
    optimizer.state[p] = {"step": torch.tensor(0.0), "exp_avg": torch.zeros(2, 2)}  # here
for p in net.parameters():
    restart(optimizer, p)
optimizer.step()
""",
    ),
    "rows that are listed in one function and become one tensor in another": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
def rows(n):
    found = []
    for i in range(n):
        found.append(torch.tensor([i, i + 1.0]))
    return found
def step(net, device):
    x = torch.stack(rows(4))  # here
    return net(x)
step(nn.Linear(2, 2).cuda(), torch.device("cuda"))
""",
    ),
    "a sampler that makes its own generator": (
        ("cuda", "cpu"),
        "generator-device",
        """\
from torch.utils.data import RandomSampler
class Rows(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return i
torch.set_default_device("cuda")
sampler = RandomSampler(Rows())  # here
for x in DataLoader(Rows(), batch_size=4, sampler=sampler):
    print(x)
""",
    ),
    "a loader that shuffles what a function collates": (
        ("cuda", "cpu"),
        "generator-device",
        """\
class Rows(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return i
def collate(rows):
    return torch.tensor(rows)
torch.set_default_device("cuda")
for x in DataLoader(Rows(), batch_size=4, shuffle=True, collate_fn=collate):  # here
    print(x)
""",
    ),
    "a loop that moves all of a written list but one": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
def parts():
    text = nn.Embedding(4, 2)
    return text, nn.Linear(2, 2)
class Run:
    def __init__(self, device):
        self.words, self.net = parts()
        self.head = nn.Linear(2, 2)
        for module in (self.net, self.head):  # here
            module.to(device)
    def step(self, ids):
        return self.head(self.net(self.words(ids)))
Run("cuda").step(torch.ones(2, dtype=torch.long, device="cuda"))
""",
    ),
    "a tensor that the user's own code refuses": (
        ("CPU",),
        "kernel-needs-gpu",
        """\
def check(t):
    if not t.is_cuda:
        raise RuntimeError("expected a CUDA tensor")
class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
    def forward(self, x):
        check(self.scale)
        return x * self.scale
net = Fused()  # here
net(torch.rand(2).cuda())
""",
    ),
    "two tensors of which the user's own code asks whether they are on one device": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Attend(nn.Module):
    def forward(self, x):
        mask = torch.ones(2)  # here
        assert x.device == mask.device, "x and mask are apart"
        return x
Attend().cuda()(torch.rand(2).cuda())
""",
    ),
    "what the backward of an autograd function makes": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.save_for_backward(x)
        ctx.limit = limit
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        bound = torch.full((x.shape[-1],), ctx.limit)  # here
        return torch.minimum(grad * x, bound), None
""",
    ),
    "an input that a callback keeps for the trainer's model": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from transformers import TrainerCallback
class Probe(TrainerCallback):
    def __init__(self, ids):
        self.ids = ids
    def on_step_end(self, args, state, control, model=None, **rest):
        model(input_ids=self.ids)  # here
Probe(torch.tensor([[1, 2]]))
""",
    ),
    "parts of a library's model that are replaced by their name": (
        ("cuda:0", "cpu"),
        "unregistered-tensor",
        """\
from transformers import GPT2LMHeadModel
class Small(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.register_buffer("small", weight.round())
        self.scale = weight.abs().amax(1, keepdim=True)  # here
    def forward(self, x):
        return F.linear(x, self.small * self.scale)
net = GPT2LMHeadModel.from_pretrained("gpt2")
for name, part in list(net.named_children()):
    if isinstance(part, nn.Linear):
        setattr(net, name, Small(part.weight))
net.to("cuda")
""",
    ),
    "an optimizer that an object makes before it moves its model": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
class Sign(torch.optim.Optimizer):
    def __init__(self, weights, lr):
        super().__init__(weights, dict(lr=lr))
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["mean"] = torch.zeros_like(p)
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(self.state[p]["mean"] + p.grad)
class Fit:
    def __init__(self, net, device):
        self.optimizer = Sign(net.parameters(), 0.1)  # here
        self.net = net.to(device)
    def run(self):
        self.optimizer.step()
Fit(nn.Linear(2, 2), "cuda").run()
""",
    ),
    "rows that a function collects and returns as one": (
        ("cuda",),
        "host-copy-needed",
        """\
def rows(net, batches):
    found = []
    for batch in batches:
        found.append(net(batch.cuda()))
    return torch.cat(found)  # here
def kept(rows):
    return np.asarray(rows)
kept(rows(nn.Linear(2, 2).cuda(), [torch.rand(1, 2)]))
""",
    ),
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
        "unregistered-tensor",
        """\
class EMA:
    def __init__(self, m):
        self.shadow = {k: v.clone() for k, v in m.state_dict().items()}
    def update(self, m):
        for k, v in m.state_dict().items():
            self.shadow[k].mul_(0.9).add_(v, alpha=0.1)
m = nn.Linear(2, 2)
e = EMA(m)  # here
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
    loss = m(torch.rand(1, 2).cuda()).sum()
    losses.append(loss)  # here
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
    return torch.arange(n)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(10, 2)
    def forward(self, x):
        return x + self.e(positions(x.size(1)))  # here
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
    return torch.zeros(n, n)
class N(nn.Module):
    def forward(self, x):
        return x + table(x.size(-1))  # here
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
    "hf_input": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from transformers import AutoModelForCausalLM, AutoTokenizer
tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2").to("cuda")
ids = tok("hi", return_tensors="pt")  # here
out = model.generate(**ids)
""",
    ),
    "hf_input2": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from transformers import AutoModelForCausalLM, AutoTokenizer
tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2").to("cuda")
ids = tok.encode("hi", return_tensors="pt")  # here
out = model(ids)
""",
    ),
    "hf_labels": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from transformers import AutoModelForCausalLM, AutoTokenizer
tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
b = tok(["hi"], return_tensors="pt").to("cuda")
labels = torch.tensor([[1]])  # here
model(**b, labels=labels)
""",
    ),
    "trainer": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
from transformers import Trainer, AutoModel
class T(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        out = model(**inputs)
        w = torch.tensor([1.0, 2.0])  # here
        return F.cross_entropy(out.logits, inputs["labels"], weight=w)
t = T(model=AutoModel.from_pretrained("x"))
t.train()
""",
    ),
    "lit": (
        ("cuda:0", "cpu"),
        "unregistered-tensor",
        """\
import lightning as L
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 2)
        self.w = torch.ones(2)  # here
    def training_step(self, batch, i):
        x, y = batch
        return ((self.net(x) - y) * self.w).mean()
L.Trainer().fit(Lit(), DataLoader(TensorDataset(torch.rand(4, 2), torch.rand(4, 2))))
""",
    ),
    "lit_teacher": (
        ("cuda:0", "cpu"),
        "unregistered-submodule",
        """\
import lightning as L
class Lit(L.LightningModule):
    def __init__(self, teacher):
        super().__init__()
        self.net = nn.Linear(2, 2)
        self.teacher = [teacher]  # here
    def training_step(self, batch, i):
        return F.mse_loss(self.net(batch), self.teacher[0](batch))
L.Trainer().fit(Lit(nn.Linear(2, 2)), DataLoader(torch.rand(4, 2)))
""",
    ),
    "lit_noise": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
import pytorch_lightning as pl
class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 2)
    def training_step(self, batch, i):
        x = batch
        z = torch.randn(x.size(0), 2)  # here
        return (self.net(x) + z).mean()
pl.Trainer().fit(Lit(), DataLoader(torch.rand(4, 2)))
""",
    ),
    "pos": (
        ("cuda:0", "cpu"),
        "unregistered-tensor",
        """\
class PE(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        pe = torch.zeros(n, d)
        pos = torch.arange(n).unsqueeze(1)
        pe[:, 0::2] = torch.sin(pos)
        self.pe = pe.unsqueeze(0)  # here
    def forward(self, x):
        return x + self.pe[:, : x.size(1)]
m = nn.Sequential(PE(2, 9)).cuda()
m(torch.rand(1, 3, 2).cuda())
""",
    ),
    "hidden": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def forward(self, x):
        return self.fc(x)
class R(nn.Module):
    def __init__(self):
        super().__init__()
        self.r = nn.GRU(2, 2)
    def init_hidden(self, b):
        return torch.zeros(1, b, 2)  # here
    def forward(self, x):
        h = self.init_hidden(x.size(1))
        return self.r(x, h)
R().cuda()(torch.rand(2, 2, 2).cuda())
""",
    ),
    "gp": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
def gp(D, real, fake):
    alpha = torch.rand(real.size(0), 1)  # here
    x = alpha * real + (1 - alpha) * fake
    return D(x)
D = nn.Linear(2, 1).cuda()
gp(D, torch.rand(2, 2).cuda(), torch.rand(2, 2).cuda())
""",
    ),
    "list": (
        ("cuda:0", "cpu"),
        "unregistered-submodule",
        """\
class B(nn.Module):
    def __init__(self):
        super().__init__()
        self.hs = []  # here
        for _ in range(3):
            self.hs.append(nn.Linear(2, 2))
    def forward(self, x):
        return sum(h(x) for h in self.hs)
B().cuda()(torch.rand(1, 2).cuda())
""",
    ),
    "dict": (
        ("cuda:0", "cpu"),
        "unregistered-submodule",
        """\
class B(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.hs = {n: nn.Linear(2, 2) for n in names}  # here
    def forward(self, x, n):
        return self.hs[n](x)
B(["a"]).cuda()(torch.rand(1, 2).cuda(), "a")
""",
    ),
    "disc": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
import torchvision
vgg = torchvision.models.vgg16(weights=None).features  # here
x = torch.rand(1, 3, 9, 9).cuda()
vgg(x)
""",
    ),
    "split": (
        ("cuda:0", "cuda:1"),
        "cross-shard-op",
        """\
class S(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2).to("cuda:0")
        self.b = nn.Linear(2, 2).to("cuda:1")
    def forward(self, x):
        h = self.a(x)
        return self.b(h)  # here
S()(torch.rand(1, 2).to("cuda:0"))
""",
    ),
    "split2": (
        ("cuda:0", "cuda:1"),
        "cross-shard-op",
        """\
class S(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2).to("cuda:0")
        self.b = nn.Linear(2, 2).to("cuda:1")
    def forward(self, x):
        h = self.a(x)
        return self.b(h.to("cuda:1")) + h  # here
S()(torch.rand(1, 2).to("cuda:0"))
""",
    ),
    "acc": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def forward(self, x):
        return self.fc(x)
from accelerate import Accelerator
acc = Accelerator()
m = Net()
opt = torch.optim.SGD(m.parameters(), 0.1)
dl = DataLoader(torch.rand(4, 2))
m, opt = acc.prepare(m, opt)  # here
for x in dl:
    m(x)
""",
    ),
    "held_offloaded": (
        ("cuda:0", "cpu"),
        "unregistered-submodule",
        """\
from accelerate import cpu_offload
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.layers = [nn.Linear(2, 2) for _ in range(2)]  # here
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.first(x)
net = Net()
cpu_offload(net, torch.device("cuda"))
net(torch.rand(3, 2).cuda())
""",
    ),
    "acc_loss": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def forward(self, x):
        return self.fc(x)
from accelerate import Accelerator
acc = Accelerator()
m, dl = acc.prepare(Net(), DataLoader(TensorDataset(torch.rand(4, 2), torch.zeros(4, dtype=torch.long))))
loss_fn = nn.CrossEntropyLoss(weight=torch.ones(2))  # here
for x, y in dl:
    loss_fn(m(x), y)
""",
    ),
    "metric": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
import torchmetrics
m = nn.Linear(2, 2).cuda()
acc = torchmetrics.Accuracy(task="binary")  # here
acc(m(torch.rand(2, 2).cuda()), torch.zeros(2, 2).cuda())
""",
    ),
    "metric2": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
import torchmetrics
m = nn.Linear(2, 2).cuda()
acc = torchmetrics.MeanMetric()  # here
acc.update(m(torch.rand(2, 2).cuda()))
""",
    ),
    "adv": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
def fgsm(model, x, y, eps):
    delta = torch.zeros_like(x)
    noise = torch.empty(x.shape).uniform_(-eps, eps)  # here
    return model(x + noise)
m = nn.Linear(2, 2).cuda()
fgsm(m, torch.rand(1, 2).cuda(), None, 0.1)
""",
    ),
    "tri": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
def mask(n):
    return torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(2, 2)
    def forward(self, x):
        s = self.q(x) @ x.transpose(-1, -2)
        s = s + mask(x.size(1))  # here
        return s.softmax(-1)
A().cuda()(torch.rand(1, 3, 2).cuda())
""",
    ),
    "where": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
m = nn.Linear(2, 2).cuda()
x = m(torch.rand(1, 2).cuda())
torch.where(x > 0, x, torch.tensor([0.0, 1.0]))  # here
""",
    ),
    "peft": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
from transformers import AutoModel
from peft import get_peft_model, LoraConfig
m = AutoModel.from_pretrained("x")  # here
m = get_peft_model(m, LoraConfig())
x = torch.ones(1, 2, dtype=torch.long).cuda()
m(x)
""",
    ),
    "sd": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
from diffusers import UNet2DModel, DDPMScheduler
unet = UNet2DModel().cuda()
sch = DDPMScheduler()
x = torch.randn(1, 3, 8, 8, device="cuda")
noise = torch.randn(x.shape)  # here
t = torch.randint(0, 10, (1,), device="cuda")
y = sch.add_noise(x, noise, t)
""",
    ),
    "dataclass": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from dataclasses import dataclass
@dataclass
class Cfg:
    device: str = "cuda"
cfg = Cfg()
m = nn.Linear(2, 2).to(cfg.device)
x = torch.rand(1, 2)  # here
m(x)
""",
    ),
    "kwargs": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
def step(model, **batch):
    return model(batch["x"])
m = nn.Linear(2, 2).cuda()
step(m, x=torch.rand(1, 2))  # here
""",
    ),
    "moved by the name of another accelerator": (
        ("xpu:0", "cpu"),
        "created-without-device",
        """\
m = nn.Linear(2, 2).xpu()
x = torch.rand(1, 2).xpu()
bias = torch.zeros(2)  # here
m(x) + bias
""",
    ),
    "moved to where another is": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
m = nn.Linear(2, 2).cuda()
x = torch.rand(1, 2).cuda()
y = torch.rand(1, 2).type_as(x)
bias = torch.zeros(2)  # here
m(y) + bias
""",
    ),
    "closure": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
m = nn.Linear(2, 2).cuda()
bias = torch.zeros(2)  # here
def hook(mod, inp, out):
    return out + bias
m.register_forward_hook(hook)
m(torch.rand(1, 2).cuda())
""",
    ),
    "a loader forgotten where another is prepared": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from accelerate import Accelerator
accelerator = Accelerator()
data = torch.rand(8, 2)
train, valid = DataLoader(TensorDataset(data)), DataLoader(TensorDataset(data))
model = nn.Linear(2, 2)
model, train = accelerator.prepare(model, train)  # here
for (x,) in train:
    model(x)
for (x,) in valid:
    model(x)
""",
    ),
    "a generator that draws elsewhere where it is": (
        ("cuda", "cpu"),
        "generator-device",
        """\
rng = torch.Generator(device="cuda").manual_seed(0)
order = torch.randperm(3, generator=rng)  # here
noise = torch.randn(3, generator=rng, device="cuda")
""",
    ),
    "inputs moved where they are handed over": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
net = nn.Linear(2, 3).to("cuda")
for images, labels in DataLoader(TensorDataset(torch.rand(8, 2), torch.zeros(8))):
    outputs = net(images.to("cuda"))  # here
    correct = (outputs.argmax(1) == labels).sum()
""",
    ),
    "an index that is computed of what another function made": (
        ("cpu",),
        "index-device",
        """\
class Buffer:
    def __init__(self, device):
        self.rows = torch.zeros(9, 2)
        self.weights = torch.ones(9, device=device)
    def draw(self, n):
        index = torch.multinomial(self.weights, n)
        return self.rows[index]  # here
Buffer("cuda").draw(3)
""",
    ),
    "state that a step makes": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
class Scaled(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["scale"] = torch.eye(p.shape[0])  # here
                p.grad.addmm_(state["scale"], p.grad)
model = nn.Linear(2, 2).cuda()
Scaled(model.parameters(), {}).step()
""",
    ),
    "a function that works on the host": (
        ("cuda:0", "cpu"),
        "host-copy-needed",
        """\
def assign(cost):
    table = np.asarray(cost)
    return table.argmin(0)
scores = torch.rand(3, 3, device="cuda")
rows = assign(scores)  # here
""",
    ),
    "collected for a function that works on the host": (
        ("cuda:0", "cpu"),
        "host-copy-needed",
        """\
def principal(features):
    return np.linalg.svd(np.asarray(features))
found = []
for _ in range(2):
    z = torch.rand(1, 3, device="cuda")
    found.append(z)  # here
principal(torch.cat(found))
""",
    ),
    "collected in tuples": (
        ("cuda:0", "cpu"),
        "host-copy-needed",
        """\
model = nn.Linear(2, 2).cuda()
kept = []
for _ in range(2):
    y = model(torch.rand(1, 2).cuda())
    kept.append((y, 1))  # here
print(np.concatenate([y for y, _ in kept]))
""",
    ),
    "brought to the host on purpose": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
class Index:
    def __init__(self, model):
        self.model = model
        self.vectors = model(torch.rand(4, 2).cuda()).cpu()
    def query(self, x):
        q = self.model(x.cuda())
        return q @ self.vectors.t()  # here
Index(nn.Linear(2, 2).cuda()).query(torch.rand(1, 2))
""",
    ),
    "a loss that a plain object holds": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
class CenterLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.centers = nn.Parameter(torch.rand(3, 2))
    def forward(self, x, y):
        return (x - self.centers[y]).square().mean()
class Objective:
    def __init__(self, weight):
        self.center, self.weight = CenterLoss(), weight
    def __call__(self, x, y):
        return self.weight * self.center(x, y)
device = torch.device("cuda")
net = nn.Linear(2, 2).to(device)
objective = Objective(0.1)  # here
objective(net(torch.rand(4, 2).to(device)), torch.zeros(4).long().to(device))
""",
    ),
    "an average of parameters": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
from diffusers.training_utils import EMAModel
model = nn.Linear(2, 2)
ema = EMAModel(model.parameters())
model.cuda()  # here
ema.step(model.parameters())
""",
    ),
    "a list that has grown": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
memory = []
net = nn.Linear(2, 2).cuda()
target = nn.Linear(2, 2)  # here
def learn():
    if len(memory) < 8:
        return
    net(torch.stack(memory).cuda())
    target(torch.stack(memory).cuda())
for _ in range(20):
    memory.append(torch.rand(2))
    learn()
""",
    ),
    "labels of which only their rows are known": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from somewhere import load
net = nn.Linear(2, 3).cuda()
data = TensorDataset(torch.tensor(load("x")), torch.tensor(load("y")))
for x, y in DataLoader(data, batch_size=4):
    x = x.cuda()  # here
    F.cross_entropy(net(x), y)
""",
    ),
    "an observation of which nothing is known": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from somewhere import environment
net = nn.Linear(2, 3).cuda()
seen = torch.as_tensor(environment.reset())  # here
net(seen)
""",
    ),
    "the target of a metric": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from torchmetrics.classification import MulticlassAccuracy
accuracy = MulticlassAccuracy(num_classes=3).cuda()
net = nn.Linear(2, 3).cuda()
for x, y in DataLoader(TensorDataset(torch.rand(8, 2), torch.zeros(8))):
    accuracy.update(net(x.cuda()), y)  # here
""",
    ),
    "an example to trace with": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
net = nn.Linear(2, 3).cuda()
example = torch.rand(1, 2)  # here
torch.jit.trace(net, example)
""",
    ),
    "a part of a split model that stays behind": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
class Stage(nn.Sequential):
    def __init__(self, d):
        super().__init__(*[nn.Linear(d, d) for _ in range(2)])
class Split(nn.Module):
    def __init__(self):
        super().__init__()
        self.lower = Stage(2).to("cuda")
        self.upper = Stage(2)  # here
    def forward(self, x):
        return self.upper(self.lower(x.cuda()))
Split()(torch.rand(1, 2))
""",
    ),
    "a field that the method which moves the others hands on": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
import dataclasses
@dataclasses.dataclass
class Rows:
    seen: torch.Tensor
    weight: torch.Tensor
    def to(self, device):
        return dataclasses.replace(self, seen=self.seen.to(device))  # here
rows = Rows(torch.rand(4, 2), torch.rand(4, 1)).to("cuda")
rows.seen * rows.weight
""",
    ),
    "a field that is not handed on to the second part of a model": (
        ("cuda:1", "cuda:0"),
        "cross-shard-op",
        """\
import dataclasses
@dataclasses.dataclass
class Rows:
    seen: torch.Tensor
    last: torch.Tensor
    def sent(self, device):
        return dataclasses.replace(self, seen=self.seen.to(device))  # here
class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2).to("cuda:0")
        self.second = nn.Linear(2, 2).to("cuda:1")
    def forward(self, rows):
        rows = Rows(self.first(rows.seen), rows.last).sent("cuda:1")
        return self.second(rows.seen) + rows.last
Halves()(Rows(torch.rand(4, 2).to("cuda:0"), torch.rand(4, 2).to("cuda:0")))
""",
    ),
    "a field that stays while its object moves": (
        ("cuda:0", "cpu"),
        "unregistered-tensor",
        """\
class Rows:
    def __init__(self):
        self.seen, self.weight = torch.rand(4, 2), torch.rand(4, 1)
    def cuda(self):
        self.seen = self.seen.cuda()  # here
        return self
rows = Rows().cuda()
rows.seen * rows.weight
""",
    ),
    "a kind of container that a helper does not know": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
def send(what, device):
    if torch.is_tensor(what):
        return what.to(device)
    if isinstance(what, tuple):
        return tuple(send(v, device) for v in what)
    return what  # here
seen, rest = send((torch.rand(2, 2), [torch.rand(2, 2)]), "cuda")
seen * rest[0]
""",
    ),
    "a constant of a model that was filled after meta": (
        ("cuda:0", "meta"),
        "meta-tensor",
        """\
class Rope(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)
        self.freqs = torch.arange(4)  # here
    def forward(self, x):
        return self.proj(x) * self.freqs
with torch.device("meta"):
    net = Rope()
net.load_state_dict({k: v.cuda() for k, v in torch.load("w.pt").items()}, assign=True)
net(torch.rand(2, 4).cuda())
""",
    ),
    "a model at home where its copies are listed elsewhere": (
        ("cuda:1", "cuda:0"),
        "dataparallel-home-device",
        """\
cards = [int(n) for n in os.environ["CARDS"].split(",")]
net = nn.Linear(2, 2)
net = net.cuda()  # here
net = nn.DataParallel(net, device_ids=cards)
net(torch.rand(2, 2))
""",
    ),
    "lengths on the GPU": (
        ("cuda:0", "cpu"),
        "host-copy-needed",
        """\
rows, lengths = (t.to("cuda") for t in (torch.rand(2, 3, 4), torch.tensor([3, 2])))
nn.utils.rnn.pack_padded_sequence(rows, lengths)  # here
""",
    ),
    "a head of its own around a body that was moved": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
class Scored(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body, self.score = body, nn.Linear(2, 1)
    def forward(self, x):
        return self.score(self.body(x))
body = nn.Linear(2, 2).to("cuda")
scored = Scored(body)  # here
scored(torch.rand(1, 2).to("cuda"))
""",
    ),
    "a companion in the shape of an input": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
net = nn.Embedding(3, 2).cuda()
def decode(net, src):
    start = torch.tensor([1] * src.shape[1])  # here
    return net(start)
decode(net, torch.zeros(2, 3, device="cuda"))
""",
    ),
    "a part of a batch of which others were moved": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
class Rows:
    def __init__(self, seen, other):
        self.seen, self.other = seen, other
net = nn.Bilinear(2, 2, 1).cuda()
rows = Rows(torch.rand(4, 2), torch.rand(4, 2))
seen = rows.seen.cuda()
other = rows.other  # here
net(seen, other)
""",
    ),
    "an average that is copied before its model moves": (
        ("cpu", "cuda:0"),
        "module-not-moved",
        """\
class Average:
    def __init__(self, model):
        self.copy = copy.deepcopy(model).eval()
    def update(self, model):
        for mine, theirs in zip(self.copy.parameters(), model.parameters()):
            mine.mul_(0.9).add_(theirs)
class Loop:
    def __init__(self, device):
        self.model = nn.Linear(2, 2)
        self.average = Average(self.model)  # here
        self.model.to(device)
loop = Loop(torch.device("cuda"))
loop.average.update(loop.model)
""",
    ),
    "what a tokenizer of one's own returns": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from transformers import BatchEncoding
class Words:
    def __call__(self, texts):
        return BatchEncoding({"input_ids": torch.zeros(len(texts), 4)})
def run(net, device):
    words = Words()
    rows = words(["a"])  # here
    return net(**rows)
run(nn.Embedding(3, 2).cuda(), torch.device("cuda"))
""",
    ),
    "a device that a constructor may be given": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Table:
    def __init__(self, n, device="cpu"):
        self.rows = torch.rand(n, 2, device=device)
def run(device):
    table = Table(4)  # here
    return table.rows * torch.rand(2, device=device)
run(torch.device("cuda"))
""",
    ),
    "a tracker that could move": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
class HitTracker:
    def __init__(self):
        self.hits = torch.zeros(3)
    def to(self, device):
        self.hits = self.hits.to(device)
        return self
    def add(self, hits):
        self.hits += hits
def run(device):
    tracker = HitTracker()  # here
    tracker.add(torch.ones(3, device=device))
run(torch.device("cuda"))
""",
    ),
    "what a helper returns beside what it has moved": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
def unpack(row, device):
    seen = row["seen"].to(device)
    return seen, row["mask"]  # here
seen, mask = unpack({"seen": torch.rand(2, 2), "mask": torch.rand(2, 2)}, "cuda")
seen * mask
""",
    ),
    "a bound that a function's backward makes": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.save_for_backward(x)
        ctx.limit = limit
        return x.sigmoid()
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        bound = torch.full((x.shape[-1],), ctx.limit)  # here
        return torch.minimum(grad * x, bound), None
Clipped.apply(torch.rand(2, 2, requires_grad=True).cuda(), 0.5).sum().backward()
""",
    ),
    "a copy on the first GPU among those on another": (
        ("cuda:1", "cuda:0"),
        "hardcoded-device",
        """\
class Client:
    def __init__(self, device):
        self.rows, self.device = torch.rand(4, 2), device
    def update(self, model):
        local = copy.deepcopy(model).cuda()  # here
        return local(self.rows.to(self.device))
clients = [Client(pick_device()) for _ in range(3)]
for n in torch.randperm(3).tolist():
    clients[n].update(nn.Linear(2, 2))
""",
    ),
    "layers that a function puts in, found where a device is known": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
def adapt(net):
    net[0] = nn.Linear(2, 2)
    return 1
def run(device):
    net = nn.Sequential(nn.Linear(2, 2)).to(device)
    count = adapt(net)  # here
    net(torch.rand(1, 2).to(device))
run(torch.device("cuda"))
""",
    ),
    "a layer that a function adds which knows the file's device": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
device = torch.device("cuda")
def adapt(net):
    net[1] = nn.Linear(2, 3)  # here
    return net
net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).to(device)
net = adapt(net)
net(torch.rand(1, 2).to(device))
""",
    ),
    "a metric that is told by its methods": (
        ("cuda:0", "cpu"),
        "loss-or-metric-state",
        """\
class Tally(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("seen", torch.zeros(n))
    def update(self, right):
        self.seen += right.sum(0)
    def compute(self):
        return self.seen.mean()
class Run:
    def __init__(self, device):
        self.net = nn.Linear(2, 3).to(device)
        self.tallies = {name: Tally(3) for name in ("train", "dev")}  # here
    def step(self, x, name):
        self.tallies[name].update(self.net(x))
Run("cuda").step(torch.rand(4, 2).cuda(), "dev")
""",
    ),
    "a table that a switch leaves on the host, and what goes around it": (
        ("cuda:0", "cpu"),
        "offloaded-to-cpu",
        """\
class Search:
    def __init__(self, device, offload_table=True):
        self.device = device
        self.table = nn.Embedding(50, 8)
        self.net = nn.GRU(8, 8).to(device)
        if not offload_table:
            self.table.to(device)
    def run(self, rows):
        found = self.net(self.table(rows).to(self.device))[0]
        return found @ self.table.weight.T  # here
Search("cuda").run(torch.zeros(2, 3, dtype=torch.long))
""",
    ),
    "a call that does not tell a class the device that it keeps": (
        ("cuda:1", "cuda:0"),
        "hardcoded-device",
        """\
class Memory:
    def __init__(self, size, place="cuda"):
        self.size, self.place = size, place
    def rows(self):
        return torch.as_tensor([[0.5] * self.size], device=self.place)
class Player:
    def __init__(self, place):
        self.place = torch.device(place)
        self.net = nn.Linear(2, 1).to(self.place)
        self.memory = Memory(2)  # here
    def value(self):
        return self.net(self.memory.rows())
Player("cuda:1").value()
""",
    ),
    "two calls that leave out the device that a class keeps": (
        ("cuda:1", "cuda:0"),
        "hardcoded-device",
        """\
class Memory:
    def __init__(self, size, place="cuda"):  # here
        self.size, self.place = size, place
    def rows(self):
        return torch.as_tensor([[0.5] * self.size], device=self.place)
class Player:
    def __init__(self, place):
        self.place = torch.device(place)
        self.net = nn.Linear(2, 1).to(self.place)
        self.memory, self.other = Memory(2), Memory(3)
    def value(self):
        return self.net(self.memory.rows())
Player("cuda:1").value()
""",
    ),
    "a call that does not tell a function the device": (
        ("cuda:1", "cuda:0"),
        "hardcoded-device",
        """\
def grid(side, place="cuda:0"):
    return torch.ones(side, side, device=place)
class Board:
    def __init__(self, side, place):
        self.cells = grid(side)  # here
        self.net = nn.Linear(side, 2).to(place)
    def value(self):
        return self.net(self.cells)
Board(3, torch.device("cuda:1")).value()
""",
    ),
    "a field that a method leaves out of those it moves": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
class Rows(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return {"points": torch.rand(3), "kind": i % 2}
class Runner:
    def __init__(self, net, device):
        self.net, self.device = net.to(device), device
    def unpack(self, sample):
        points = sample["points"].to(self.device)
        return points, sample["kind"]  # here
    def run(self, loader):
        for sample in loader:
            points, kind = self.unpack(sample)
            self.net(kind)
Runner(nn.Embedding(2, 3), torch.device("cuda")).run(DataLoader(Rows(), batch_size=2))
""",
    ),
    "a replica that makes what it joins where the constructor was told": (
        ("cuda:1", "cuda:0"),
        "dataparallel-replica-state",
        """\
class Field(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device, self.fc = device, nn.Linear(2, 1)
    def forward(self, x):
        base = torch.ones(len(x), 1, device=self.device)  # here
        return torch.where(x[:, :1] > 0, self.fc(x), base)
device = torch.device("cuda:0")
net = nn.DataParallel(Field(device).to(device))
net(torch.rand(4, 2).to(device))
""",
    ),
    "statistics of the data that an object in a model keeps": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Scale:
    def __init__(self, data):
        self.mean = data.mean(0)
    def encode(self, u):
        return u - self.mean
class Net(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale, self.fc = scale, nn.Linear(2, 2)
    def forward(self, u):
        return self.fc(self.scale.encode(u))
def main():
    device = torch.device("cuda")
    data = torch.rand(8, 2)
    net = Net(Scale(data)).to(device)  # here
    for chunk in data.split(4):
        net(chunk.to(device))
main()
""",
    ),
    "a model that a table of builders makes": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
KINDS = {"small": lambda: nn.Linear(2, 2), "big": lambda: nn.Sequential(nn.Linear(2, 2))}
def main():
    device = torch.device("cuda")
    student = KINDS["small"]().to(device)
    teacher = KINDS["big"]().eval()  # here
    x = torch.rand(4, 2, device=device)
    return F.mse_loss(student(x), teacher(x))
main()
""",
    ),
    "a table of an object that knows its device": (
        ("cpu", "cuda:0"),
        "created-without-device",
        """\
class Diffusion:
    def __init__(self, steps, device):
        self.device = device
        self.alphas = torch.linspace(1.0, 0.1, steps)  # here
    def noise(self, x, t):
        return self.alphas[t].view(-1, 1) * x
ours = Diffusion(10, "cuda")
ours.noise(torch.rand(4, 2).to(ours.device), torch.randint(10, (4,), device=ours.device))
""",
    ),
    "a table that is kept on the host, and its rows moved": (
        ("cpu", "cuda:0"),
        "index-device",
        """\
class Replay:
    def __init__(self, size, device):
        self.device, self.seen = device, torch.zeros(size, 4)
    def draw(self, weights):
        rows = torch.multinomial(weights.to(self.device), 2)
        return self.seen[rows].to(self.device)  # here
Replay(8, torch.device("cuda")).draw(torch.rand(8))
""",
    ),
    "what an object that knows no device gives to a model": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
class Buffer:
    def __init__(self, size):
        self.seen = torch.zeros(size, 4)
    def all(self):
        return self.seen
def main():
    device = torch.device("cuda")
    net, buffer = nn.Linear(4, 2).to(device), Buffer(10)
    return net(buffer.all())  # here
main()
""",
    ),
    "rows of the labels beside moved rows of the inputs": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
def main():
    device = torch.device("cuda")
    net = nn.Linear(2, 1).to(device)
    xs = torch.rand(8, 2)
    ys = torch.rand(8, 1)
    for i in range(0, 8, 4):
        x = xs[i:i + 4].to(device)
        y = ys[i:i + 4]  # here
        F.mse_loss(net(x), y)
main()
""",
    ),
    "one of two that a statement takes, and the other moved": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
def main():
    device = torch.device("cuda")
    net, (xs, ys) = nn.Linear(2, 1).to(device), (torch.rand(8, 2), torch.rand(8, 1))
    for i in range(0, 8, 4):
        x, y = xs[i:i + 4].to(device), ys[i:i + 4]  # here
        F.mse_loss(net(x), y)
main()
""",
    ),
    "an offload by the name of a part": (
        ("cuda:0", "cpu"),
        "offloaded-to-cpu",
        """\
class Parts:
    def __init__(self, device):
        self.device, self.held = device, {"refine": nn.Linear(2, 2)}
    def acquire(self, name):
        return self.held[name].to(self.device)
    def release(self, name):
        self.held[name].to("cpu")
parts = Parts(torch.device("cuda"))
refine = parts.acquire("refine")
x = refine(torch.rand(1, 2).cuda())
parts.release("refine")  # here
refine(x)
""",
    ),
    "a GPU that is told to a method of the input's": (
        ("cuda:0", "cuda:1"),
        "input-on-wrong-shard",
        """\
class Sweep:
    def __init__(self, points):
        self.points = points
    def to(self, device):
        return Sweep(self.points.to(device))
class Split(nn.Module):
    def __init__(self, first, second):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2).to(first), nn.Linear(2, 2).to(second)
        self.second = second
    def forward(self, sweep):
        return self.b(self.a(sweep.points).to(self.second))
split = Split("cuda:1", "cuda:0")
split(Sweep(torch.rand(1, 2)).to("cuda"))  # here
""",
    ),
    "a mask of what was brought to the host": (
        ("cpu", "cuda:0"),
        "input-not-moved",
        """\
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("ids", torch.zeros(4))
memory = Memory().cuda()
ids = torch.randint(9, (4,))
keep = ids != memory.ids.cpu()
torch.rand(4, 4).cuda().masked_fill(~keep, 0.0)  # here
""",
    ),
    "a generator on the GPU that was chosen, and an order on the host": (
        ("cpu", "cuda:0"),
        "generator-device",
        """\
class Codes(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.rng = torch.Generator(device=device).manual_seed(3)
    def pick(self, z):
        return torch.randperm(len(z), generator=self.rng)  # here
Codes(torch.device("cuda")).pick(torch.rand(3, 2).cuda())
""",
    ),
    "state that a method makes which forward calls": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.v = nn.Linear(2, 2), None
    def start(self, rows):
        self.v = torch.zeros(rows, 2)  # here
    def forward(self, x):
        if self.v is None:
            self.start(len(x))
        self.v = self.v + self.fc(x)
        return self.v
Cell().cuda()(torch.rand(3, 2).cuda())
""",
    ),
    "a builder beside whose call a device is known, in a file whose program has one": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
def make(width):
    return nn.Sequential(nn.Linear(2, width), nn.ELU())
class Bonus:
    def __init__(self, device):
        self.fixed = make(3).requires_grad_(False)  # here
        self.net = make(3).to(device)
    def of(self, x):
        return self.net(x) - self.fixed(x)
if __name__ == "__main__":
    device = torch.device("cuda")
    Bonus(device).of(torch.rand(1, 2, device=device))
""",
    ),
    "a part that is found by its name": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
class Service:
    def __init__(self, device):
        self.device, self.parts = torch.device(device), {}
        self.parts["speaker"] = nn.Linear(2, 2).eval()  # here
    def __getattr__(self, name):
        try:
            return self.__dict__["parts"][name]
        except KeyError:
            raise AttributeError(name) from None
    def run(self, x):
        return self.speaker(x.to(self.device))
Service("cuda").run(torch.rand(1, 2))
""",
    ),
    "state that an optimizer's other method makes": (
        ("cuda:0", "cpu"),
        "optimizer-state",
        """\
class Whiten(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, dict(lr=0.1))
    def start(self, p, state):
        state["L"] = torch.eye(p.shape[0])  # here
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    self.start(p, state)
                state["L"].mul_(0.9).add_(p.grad @ p.grad.t())
net = nn.Linear(2, 2).cuda()
Whiten(net.parameters()).step()
""",
    ),
    "what a host's function is given of a model's output": (
        ("cuda:0",),
        "host-copy-needed",
        """\
from scipy.optimize import linear_sum_assignment
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def forward(self, x):
        return self.fc(x)
def match(boxes, wanted):
    cost = (boxes - wanted).abs()
    return linear_sum_assignment(cost)  # here
net = Net().cuda()
match(net(torch.rand(2, 2).cuda()), torch.rand(2, 2).cuda())
""",
    ),
    "a copy of a layer that is put into a model that has moved": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.pattern = [nn.Linear(2, 2)]
        self.parts = nn.ModuleList([copy.deepcopy(self.pattern[0])])
    def grow(self):
        new = copy.deepcopy(self.pattern[0])
        new.requires_grad_(True)
        self.parts.append(new)  # here
    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x
def advance(net):
    net.grow()
net = Growing().cuda()
advance(net)
net(torch.rand(1, 2).cuda())
""",
    ),
    "a teacher that another method forgets to prepare": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
from accelerate import Accelerator
class Work:
    def __init__(self):
        self.accelerator = Accelerator()
        self.teacher = nn.Linear(2, 2)
        self.student = nn.Linear(2, 2)
    def setup(self):
        self.student = self.accelerator.prepare(self.student)  # here
    def step(self, x):
        return self.teacher(x) + self.student(x)
work = Work()
work.setup()
work.step(torch.rand(1, 2).cuda())
""",
    ),
    "what a function builds for a tensor that it is given": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
def calibrated(scores):
    scale = nn.Linear(scores.size(-1), 1)  # here
    return scale(scores)
net = nn.Linear(2, 3).cuda()
calibrated(net(torch.rand(4, 2).cuda()))
""",
    ),
    "a part that nothing fills before all is moved": (
        ("meta",),
        "meta-tensor",
        """\
class Whole(nn.Module):
    def __init__(self, body, head):
        super().__init__()
        self.body, self.head = body, head
with torch.device("meta"):
    body = nn.GRU(4, 4)
    head = nn.Linear(4, 2)  # here
body.load_state_dict(nn.GRU(4, 4).state_dict(), assign=True)
Whole(body, head).to("cuda")
""",
    ),
    "a model that its own method spreads, and a trainer gathers": (
        ("cuda:0", "cuda:1"),
        "device-map-under-training",
        """\
from transformers import PretrainedConfig, PreTrainedModel, Trainer
class Cards(PretrainedConfig):
    def __init__(self, cards=("cuda:0", "cuda:1"), **rest):
        super().__init__(**rest)
        self.cards = list(cards)
class Split(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.emb, self.out = nn.Embedding(3, 2), nn.Linear(2, 3)
    def spread(self):
        one, two = self.config.cards
        self.emb.to(one)
        self.out.to(two)
        return self
    def forward(self, ids):
        one, two = self.config.cards
        return self.out(self.emb(ids.to(one)).to(two))
model = Split(Cards()).spread()  # here
Trainer(model).train()
model(torch.zeros(1, dtype=torch.long))
""",
    ),
    "a library's function that is given what was loaded": (
        ("cuda:0", "cpu"),
        "checkpoint-location",
        """\
from sentence_transformers import util
def nearest(model, text):
    table = torch.load("table.pt", map_location="cpu")  # here
    return util.cos_sim(model.encode(text), table)
""",
    ),
    "layers that a function adds without a result, after the statement that moves the model": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
def adapt(net):
    net.head = nn.Linear(2, 2)
def build(device):
    net = nn.Sequential(nn.Linear(2, 2))
    net.to(device)  # here
    adapt(net)
    return net.head(net(torch.rand(1, 2).to(device)))
build(torch.device("cuda"))
""",
    ),
    "a layer that a model makes while it runs": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), None
    def forward(self, x):
        x = self.first(x)
        if self.second is None:
            self.second = nn.Linear(2, 2)  # here
        return self.second(x)
net = Net()
net.to("cuda")
print(net(torch.rand(1, 2).cuda()))
""",
    ),
    "a model that is told to grow, by a method that knows no device": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2)])
    def grow(self):
        self.layers.append(nn.Linear(2, 2))
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
net = Net().cuda()
net.grow()  # here
net(torch.rand(1, 2).cuda())
""",
    ),
    "a model whose method adds a layer and gives the model": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
class Net(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
    def attach(self):
        self.head = nn.Linear(2, 2)  # here
        return self
    def forward(self, x):
        return self.head(self.body(x))
def main():
    device = torch.device("cuda")
    net = Net(nn.Linear(2, 2)).to(device)
    net.attach()
    net(torch.rand(1, 2).to(device))
main()
""",
    ),
    "saved weights that do not get into a model on meta": (
        (),
        "meta-tensor",
        """\
with torch.device("meta"):
    net = nn.Linear(2, 2)
net.load_state_dict(torch.load("net.pt", map_location="cpu"))  # here
net.to("cuda")
""",
    ),
    "a model on meta of which saved weights fill a part": (
        ("?", "cpu"),
        "meta-tensor",
        """\
with torch.device("meta"):
    net = nn.Linear(2, 2)
net.load_state_dict({"bias": torch.zeros(2)}, strict=False, assign=True)  # here
net.to("cuda")
""",
    ),
    "an index that another method of the module draws": (
        ("cuda:0", "cpu"),
        "index-device",
        """\
class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)
    def order(self, x):
        noise = torch.rand(x.shape[0], x.shape[1])  # here
        return noise.argsort(dim=1)
    def forward(self, x):
        return torch.gather(self.body(x), 1, self.order(x))
Masked().cuda()(torch.rand(3, 2).cuda())
""",
    ),
    "a model of a library that is offloaded, and run by its own method": (
        ("cuda:0", "cpu"),
        "offloaded-to-cpu",
        """\
from accelerate import cpu_offload_with_hook
from transformers import GPT2LMHeadModel
model = GPT2LMHeadModel.from_pretrained("gpt2")
model, hook = cpu_offload_with_hook(model, "cuda")  # here
model.generate(torch.tensor([[1]]).cuda())
""",
    ),
    "what NumPy is given that is computed there": (
        ("cuda:0",),
        "host-copy-needed",
        """\
net = nn.Linear(2, 2).cuda()
out = net(torch.rand(1, 2).cuda())
grid = np.kron(out / 2, np.ones((2, 2)))  # here
print(out.device)
""",
    ),
    "what an object's own method makes, without a device": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Bias:
    def __init__(self, size):
        self.size = size
    def make(self):
        return torch.zeros(self.size)  # here
    def __call__(self, scores):
        return scores + self.make()
Bias(2)(torch.rand(1, 2).cuda())
""",
    ),
    "a field of a batch beside others that were moved": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
class Rows(Dataset):
    def __getitem__(self, i):
        return {"x": torch.rand(2), "scale": torch.rand(2)}
net = nn.Linear(2, 2).cuda()
def run(x, scale):
    return net(x) * scale
for b in DataLoader(Rows()):
    x = b["x"].cuda()
    run(x, b["scale"])  # here
""",
    ),
    "fields of a graph of which one was left where the others were moved": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
rows = next(iter(DataLoader(Rows())))
net = nn.Linear(2, 2).cuda()
rows.x = rows.x.cuda()  # here
torch.cat([net(torch.rand(1, 2).cuda()), rows.y])
""",
    ),
    "a key of a dict beside one that was moved": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
rows = {key: torch.rand(1, 2) for key in open("keys")}  # here
net = nn.Linear(2, 2).cuda()
rows["x"] = rows["x"].cuda()
net(rows["x"]) * rows["y"]
""",
    ),
    "a device that a worker's line names, though the worker has its own": (
        ("cuda:1", "cuda:0"),
        "hardcoded-device",
        """\
class Worker:
    def __init__(self, device):
        self.device = torch.device(device)
        self.net = nn.Linear(2, 2).to(self.device)
    def run(self, x):
        start = torch.zeros(1, 2, device="cuda:0")  # here
        return self.net(torch.cat([start, x.to(self.device)]))
for worker in (Worker("cuda:0"), Worker("cuda:1")):
    worker.run(torch.rand(1, 2))
""",
    ),
    "a container of layers that is built on torch's, and placed by its own method": (
        ("cuda:0", "cuda:1"),
        "input-on-wrong-shard",
        """\
class Stage(nn.Sequential):
    def place(self, device):
        return self.to(torch.device(device))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Stage(nn.Linear(2, 2), nn.ReLU()).place("cuda:1")
        self.second = Stage(nn.Linear(2, 2)).place("cuda:0")
    def forward(self, x):
        return self.second(self.first(x).to("cuda:0"))
def main():
    net = Net()
    x = torch.rand(1, 2)
    x = x.to("cuda:0")  # here
    net(x)
main()
""",
    ),
    "one of several values that are moved together, for another part": (
        ("cuda:1", "cuda:0"),
        "input-on-wrong-shard",
        """\
FIRST, SECOND = "cuda:0", "cuda:1"
class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(2, 2).to(FIRST), nn.Linear(2, 2).to(SECOND)
    def forward(self, x, y):
        return self.left(x), self.right(y)  # here
x, y = (one.to(FIRST) for one in (torch.rand(1, 2), torch.rand(1, 2)))
Towers()(x, y)
""",
    ),
    "a loss of a library's that was given no tensors, and what a call gives": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
mix = Mixup(num_classes=2)
def run(net, loader, loss_fn):
    for x, y in loader:
        x, y = mix(x, y)  # here
        x = x.cuda()
        loss_fn(net(x), y)
rows = TensorDataset(torch.rand(4, 2), torch.rand(4, 2))
run(nn.Linear(2, 2).cuda(), DataLoader(rows), SoftTargetCrossEntropy())
""",
    ),
    "what threads of an executor give": (
        ("cuda:0", "cuda:1"),
        "hardcoded-device",
        """\
from concurrent.futures import ThreadPoolExecutor
def one(x):
    return x.to("cuda:1")  # here
with ThreadPoolExecutor(2) as pool:
    job = pool.submit(one, torch.rand(2))
    job.result() + next(iter(pool.map(lambda x: x.cuda(), [torch.rand(2)])))
""",
    ),
    "a table that an object's method to forgets, picked from by an index of the GPU": (
        ("cuda:0", "cpu"),
        "unregistered-tensor",
        """\
class Packed:
    def __init__(self, scale, levels, shift=None):
        self.scale, self.levels, self.shift = scale, levels, shift
    def to(self, place):
        self.scale = self.scale.to(place)  # here
        if self.shift is not None:
            self.shift = self.shift.to(place)
packed = Packed(torch.ones(4), torch.linspace(-1, 1, 16))
packed.to("cuda")
packed.levels.index_select(0, torch.randint(0, 16, (4,)).to("cuda"))
""",
    ),
    "a table that an object's method to forgets, and what is computed with it": (
        ("cuda:0", "cpu"),
        "unregistered-tensor",
        """\
class Packed:
    def __init__(self, scale, levels):
        self.scale, self.levels = scale, levels
    def to(self, place):
        self.scale = self.scale.to(place)  # here
packed = Packed(torch.ones(4), torch.linspace(-1, 1, 4))
packed.to("cuda")
packed.levels * packed.scale
""",
    ),
    "a bias that gets values of its own after the model was moved": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 3
        self.shift = nn.Linear(4, 6)
        self.reset()
    def reset(self):
        around = torch.arange(self.steps, dtype=torch.float32) * 2.0  # here
        circle = torch.stack([around.cos(), around.sin()], -1)
        self.shift.bias.data = circle.view(-1)
    def forward(self, x):
        return self.shift(x)
net = Net().cuda()
net.reset()
net(torch.rand(2, 4).cuda())
""",
    ),
    "weights that a layer makes beside one of the layer that it takes the place of": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Low(nn.Module):
    def __init__(self, whole, rank):
        super().__init__()
        self.register_parameter("weight", whole.weight)
        self.down = nn.Parameter(torch.rand(rank, self.weight.shape[1]))  # here
    def forward(self, rows):
        return F.linear(F.linear(rows, self.down), self.weight)
def adapt(net, chosen):
    for name, part in list(net.named_modules()):
        above, _, last = name.rpartition(".")
        if isinstance(part, nn.Linear) and last in chosen:
            setattr(net.get_submodule(above) if above else net, last, Low(part, 4))
net = nn.Sequential()
net.add_module("query", nn.Linear(4, 4))
net.to("cuda")
adapt(net, ["query"])
net(torch.rand(2, 4).cuda())
""",
    ),
    "a part of a part that is replaced by its dotted name": (
        ("cuda:0", "cpu"),
        "submodule-added-after-move",
        """\
net = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.Linear(2, 2)).cuda()
for name, part in list(net.named_modules()):
    above, _, last = name.rpartition(".")
    if name == "0.0":
        setattr(net.get_submodule(above), last, nn.Linear(2, 2, bias=False))  # here
net[0][0](torch.rand(1, 2).cuda())
""",
    ),
    "a field of what another library makes, given beside something else": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from transformers import BatchFeature
class Guard(nn.Module):
    def __init__(self):
        super().__init__()
        self.eye = nn.Linear(3, 1)
    def forward(self, pictures, seen):
        return pictures, self.eye(seen)
def read(pictures):
    return BatchFeature({"pixels": np.stack(pictures)}, tensor_type="pt")
guard = Guard().to("cuda")
pictures = [np.zeros(3)]
read_in = read(pictures)
shown, bad = guard(
    pictures,
    seen=read_in.pixels,  # here
)
""",
    ),
    "a layer of a block that is told a device, and makes the other layers there": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
class Block(nn.Module):
    def __init__(self, width, device="cpu"):
        super().__init__()
        self.first = nn.Linear(width, width, device=device)
        self.scale = nn.LayerNorm(width)  # here
        self.last = nn.Linear(width, width, device=device)
    def forward(self, rows):
        return self.last(self.scale(self.first(rows)))
Block(4, device="cuda")(torch.rand(2, 4, device="cuda"))
""",
    ),
    "what a method that knows its device hands to a library's model": (
        ("cuda:0", "cpu"),
        "input-not-moved",
        """\
from codecs_of_others import Codec
class Coder:
    def __init__(self):
        self._place = torch.device("cuda:0")
        self.codec = Codec.small().to(self._place)
    def encode(self, sound):
        return self.codec.encode(sound)  # here
Coder().encode(torch.randn(1, 1, 32))
""",
    ),
    "a bound that a function makes, and Python's min of it and what it is given": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
def clipped(rows, most):
    bound = torch.full((3,), 0.5) * most  # here
    return min(bound, rows.sum(0))
clipped(torch.rand(1, 3).cuda(), 2)
""",
    ),
    "an object that was made without its __init__": (
        ("cuda:0", "cpu"),
        "created-without-device",
        """\
class Judge(nn.Module):
    def __init__(self, store):
        super().__init__()
        self.net = store.load()
    def rate(self, rows):
        fade = 0.9 ** torch.arange(len(rows))  # here
        return (fade * rows).sum()
judge = Judge.__new__(Judge)
nn.Module.__init__(judge)
judge.net = nn.Linear(2, 1).cuda()
judge.rate(judge.net(torch.rand(3, 2).cuda()).squeeze(1))
""",
    ),
    "a model that a function takes with the device that it moves its rows to": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
def rate(scorer, rows, where):
    found = []
    for row in rows:  # here
        found.append(scorer(row.to(where)))
    return found
rate(nn.Linear(2, 1), torch.rand(4, 2), "cuda")
""",
    ),
    "a model that a function takes, moved by its caller's name for the device": (
        ("cuda:0", "cpu"),
        "module-not-moved",
        """\
def rate(scorer, rows, where):
    return scorer(rows.to(where))
place = torch.device("cuda")
scorer = nn.Linear(2, 1)  # here
rate(scorer, torch.rand(4, 2), place)
""",
    ),
    "a table that a function counts out, and picks from by an index of the GPU": (
        ("cpu",),
        "created-without-device",
        """\
def weights(rounds, chosen):
    decay = torch.linspace(1.0, 0.1, rounds)  # here
    return decay[chosen] ** 2
weights(8, torch.tensor([1, 4]).cuda())
""",
    ),
    "an index of the GPU for data that stay on the host": (
        ("cpu",),
        "index-device",
        """\
def drawn(n):
    rows = torch.rand(n, 3)
    order = torch.randperm(n, device="cuda")  # here
    return rows[order]
drawn(8)
""",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_short_program(name: str) -> None:
    devices, cause, rest = PROGRAMS[name]
    text = HEAD + rest
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    found = [
        one for met in program.meetings for one in of_meeting(met, devices, split=program.split)
    ]
    assert program.complete
    assert (found[0].cause, found[0].line.code.endswith("# here")) == (cause, True)


def test_what_one_round_of_a_loop_leaves_the_next_one_meets() -> None:
    text = (
        HEAD
        + """\
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.core, self.state, self.taken = nn.Linear(2, 2), None, 0
    def forward(self, x):
        self.taken += 1
        self.state = self.core(x) if self.state is None else self.core(x) + self.state
    def reset(self):
        self.state = torch.zeros(1, 2)  # here
policy, seen = Policy().cuda(), torch.rand(1, 2).cuda()
while True:
    policy(seen)
    if policy.taken > 5:
        policy.reset()
"""
    )
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    program = analyse(source, torch(), all_functions=False, rounds=2)
    meets = next(met.spot.line for met in program.meetings if "self.state" in met.spot.code)
    found = suspects(program, [Line(source.path, meets)], ("cuda:0", "cpu"))
    assert found[0].line.code.endswith("# here")
    assert not [
        one
        for met in analyse(source, torch(), all_functions=False).meetings
        for one in of_meeting(met, ("cuda:0", "cpu"))
    ]


def test_what_is_taken_to_be_in_place_is_doubted_where_nothing_explains_a_failure() -> None:
    text = """\
import torch
import torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.zeros(4, 2)
        self.place_tables()
    def forward(self, x):
        return x + self.table
    def place_tables(self):
        self.table = self.table.to(PLACES["tables"])
PLACES = {"tables": "cuda"}
net = Net().cuda()
net(torch.rand(4, 2).cuda())
"""
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    program = analyse(source, torch())
    stack = [Line(source.path, 15), Line(source.path, 9)]
    assert not suspects(program, stack, ("cuda:0", "cpu"))
    found = {one.cause: one for one in doubted(program, stack, ("cuda:0", "cpu"))}
    assert found["unregistered-tensor"].spot.line == 6
    assert not any(one.sure for one in found.values())


@pytest.mark.parametrize("made", ["model.weight", "torch.rand(2, 2, device='cuda')"])
def test_what_the_failing_expression_brings_to_the_host_is_meant_to_be_there(made: str) -> None:
    text = f"""\
import torch
model = torch.nn.Linear(2, 2).cuda()
scale = torch.tensor([128.0], device="cuda")
value = {made}
value.float().cpu().div_(scale)
"""
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    program = analyse(source, torch())
    assert any(met.spot.line == 5 for met in program.meetings)
    found = suspects(program, [Line(source.path, 5)], ("cuda:0", "cpu"))
    assert not any(one.cause == "input-not-moved" for one in found)


@pytest.mark.parametrize(
    ("package", "given", "met"),
    [("utils.data", "", 0), ("utils.data", "torch.rand(3)", 1), ("torch_geometric.data", "", 1)],
)
def test_a_class_of_an_unknown_package_is_a_batch_if_it_is_given_tensors(
    package: str, given: str, met: int
) -> None:
    text = f"""\
import torch
from {package} import Data
data = Data({given})
torch.rand(3).cuda() * data.x
"""
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    found = [one for m in analyse(source, torch()).meetings for one in of_meeting(m)]
    assert len(found) == met


def test_a_generator_that_is_where_it_draws_does_not_explain_a_failure_further_in() -> None:
    text = """\
import torch
def run(x):
    return torch.load("m.pt").project(x)
run(torch.rand(2, generator=torch.Generator().manual_seed(1)))
"""
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    program = analyse(source, torch())
    assert any(met.what == ConstraintKind.GENERATOR for met in program.meetings)
    assert not suspects(program, [Line(source.path, 4), Line(source.path, 3)], ("cuda:0", "cpu"))


def test_a_message_tells_of_more_gpus_than_two() -> None:
    text = """\
import torch
x = torch.rand(2).to(f"cuda:{torch.cuda.device_count() - 1}")
x + torch.rand(2)
"""
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    met = analyse(source, torch(), gpus=4).meetings[-1]
    assert str(met.sides[0].tensor.device) == "cuda:3"


def test_what_a_condition_takes_of_tensors_is_no_device() -> None:
    text = """\
import torch
def picked(many, wide, slim):
    chosen = wide.last if many else wide
    steps = torch.arange(3)
    return chosen + steps
picked(asked(), torch.rand(3).cuda(), None)
"""
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    program = analyse(source, torch())
    found = suspects(program, [Line(source.path, 6), Line(source.path, 5)], ("cuda:0", "cpu"))
    assert [one.spot.line for one in found] == [4]
    assert "chosen" not in found[0].devices


def test_the_device_of_what_a_tensor_meets_is_written_where_that_is_known_above() -> None:
    text = """\
import torch
from stored import rows
def nearest(asked, kept):
    asked = torch.stack(asked)
    kept = torch.from_numpy(kept)
    return asked[0] @ kept
nearest(rows, rows.numpy())
"""
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    program = analyse(source, torch())
    found = suspects(program, [Line(source.path, 7), Line(source.path, 6)], ("cuda:0", "cpu"))
    assert [(one.spot.line, one.devices) for one in found] == [(5, ("asked.device",))]


def test_the_device_of_the_program_s_settings_is_written_where_a_function_is_given_them() -> None:
    text = """\
import torch
class Dials:
    width: int = 3
    spare: str = "cpu"
    device: str = "cuda"
def ruler(dials):
    return {n: torch.arange(dials.width) for n in "xy"}
rows = torch.rand(3, device="cuda")
marks = ruler(Dials())
rows + marks["x"]
"""
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    found = suspects(analyse(source, torch()), [Line(source.path, 10)], ("cuda:0", "cpu"))
    assert [(one.spot.line, one.devices) for one in found] == [(7, ("dials.device",))]


def test_the_device_of_settings_that_an_object_keeps_is_written() -> None:
    text = """\
import torch
from torch import nn
class Dials:
    device: str = "cuda:1"
class Board:
    def __init__(self, dials):
        self.dials = dials
    def made(self):
        return nn.BCELoss(weight=torch.ones(3))
loss = Board(Dials()).made()
loss(torch.rand(3, device="cuda:1"), torch.rand(3, device="cuda:1"))
"""
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    found = suspects(analyse(source, torch()), [Line(source.path, 11)], ("cuda:1", "cpu"))
    assert [(one.spot.line, one.devices[:1]) for one in found] == [(9, ("self.dials.device",))]


def test_what_is_listed_of_weights_that_were_brought_to_the_host_stays_there() -> None:
    text = """\
import torch
from torch import nn
net = nn.Linear(2, 2).to("cuda")
main = [torch.cat([w.cpu() for w in few]) for few in grouped(net.parameters())]
kept = [w.cpu() for w in chosen(net.parameters())]
rows = [w.cpu() for w in net.parameters() if w.requires_grad]
for row in rows:
    row + torch.ones(2)
"""
    program = analyse(Source("/home/u/run.py", text.split("\n"), ast.parse(text)), torch())
    assert not list(suspects(program, [Line("/home/u/run.py", 8)], ("cuda:0", "cpu")))
    assert not [one for meeting in program.meetings for one in of_meeting(meeting)]
