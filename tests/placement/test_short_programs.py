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
