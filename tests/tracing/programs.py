"""Short programs that fail on simulated GPUs; the marks tell what a recorder must say of them, ``root`` what
the program keeps of the misplaced operand under another name.

``# edit`` stands in the line to edit, ``# born`` in the line that made the misplaced tensor (where that is
another one), ``# moved`` in the line that moved it last.
"""

from __future__ import annotations

from typing import NamedTuple


class Program(NamedTuple):
    """A program, its accepted causes, and what the misplaced operand is called."""

    text: str
    causes: tuple[str, ...]
    stray: str
    root: str | None = None


PROGRAMS = {
    "factory-in-forward": Program(
        """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        noise = torch.randn(x.shape[0], 4)  # edit born
        return self.fc(x) + noise

net = Net().to("cuda")
net(torch.randn(2, 4, device="cuda"))
""",
        ("created-without-device",),
        "noise",
    ),
    "plain-attribute": Program(
        """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.table = torch.arange(4.0)  # edit born

    def forward(self, x):
        y = self.fc(x)
        return y * self.table

device = torch.device("cuda")
net = Net().to(device)
net(torch.randn(2, 4).to(device))
""",
        ("unregistered-tensor",),
        "self.table",
    ),
    "batch": Program(
        """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

def train(net, loader, device):
    for x, y in loader:  # born
        x = x.to(device)  # edit
        out = net(x)
        nn.functional.cross_entropy(out, y)

device = torch.device("cuda")
data = TensorDataset(torch.randn(8, 4), torch.randint(0, 3, (8,)))
train(nn.Linear(4, 3).to(device), DataLoader(data, batch_size=4), device)
""",
        ("input-not-moved",),
        "y",
    ),
    "late-head": Program(
        """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 10)

    def forward(self, x):
        return self.head(self.body(x))

net = Net().cuda()
net.head = nn.Linear(4, 3)  # edit born
net(torch.randn(2, 4).cuda())
""",
        ("submodule-added-after-move",),
        "net.head.weight",
    ),
    "layers-in-a-list": Program(
        """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.blocks = [nn.Linear(4, 4) for _ in range(2)]  # edit born

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return x

net = Net().cuda()
net(torch.randn(2, 4).cuda())
""",
        ("unregistered-submodule",),
        "net.blocks[0].weight",
    ),
    "second-model": Program(
        """\
import torch
from torch import nn

def build(width):
    return nn.Sequential(nn.Linear(width, width), nn.ReLU())  # born

def main():
    device = torch.device("cuda")
    student = build(4).to(device)
    teacher = build(4)  # edit
    x = torch.randn(2, 4, device=device)
    student(x)
    teacher(x)

main()
""",
        ("module-not-moved",),
        "teacher.0.weight",
    ),
    "fixed-device": Program(
        """\
import torch

def step(weights, device):
    x = torch.ones(4).to(device)
    scale = torch.ones(4).to("cuda:0")  # edit moved
    return x * scale * weights

step(torch.ones(4, device="cuda:1"), torch.device("cuda:1"))
""",
        ("hardcoded-device",),
        "scale",
    ),
    "checkpoint": Program(
        """\
import torch

torch.save({"mean": torch.zeros(4)}, "stats.pt")
state = torch.load("stats.pt")  # edit born
x = torch.randn(2, 4, device="cuda")
print(x - state["mean"])
""",
        ("checkpoint-location",),
        "state['mean']",
    ),
    "in place": Program(
        """\
import torch

def edit(out, delta):
    for i, at in enumerate([1, 2]):
        out[i, at, :] += delta

delta = torch.zeros(4)  # edit born
edit(torch.ones(2, 3, 4, device="cuda"), delta)
""",
        ("created-without-device", "input-not-moved"),
        "delta",
    ),
    "numpy": Program(
        """\
import torch

scores = []
for _ in range(2):
    out = torch.randn(3, device="cuda").softmax(-1)  # born
    scores.append(out.numpy())  # edit
""",
        ("host-copy-needed",),
        "out",
    ),
    "state of a loss": Program(
        """\
import torch
from torch import nn

class Proxies(nn.Module):
    def __init__(self):
        super().__init__()
        self.proxies = nn.Parameter(torch.randn(3, 4))

    def forward(self, z):
        p = nn.functional.normalize(self.proxies, dim=-1)  # born
        return (z @ p.t()).sum()

def main():
    device = torch.device("cuda")
    net = nn.Linear(4, 4).to(device)
    loss = Proxies()  # edit
    loss(net(torch.randn(2, 4, device=device)))

main()
""",
        ("module-not-moved", "loss-or-metric-state"),
        "p.t()",
        "loss.proxies",
    ),
    "weights that an optimizer keeps": Program(
        """\
import torch
from torch import nn

class Averaged:
    def __init__(self, net):
        self.slow = [p.detach().clone() for p in net.parameters()]  # born

    @torch.no_grad()
    def update(self, net):
        for slow, fast in zip(self.slow, net.parameters()):
            slow.add_(fast - slow)

net = nn.Linear(4, 4)
average = Averaged(net)
net.cuda()
average.update(net)
""",
        (),
        "slow",
        "self.slow[0]",
    ),
    "cache of an object, in replicas": Program(
        """\
import torch
from torch import nn

class Offsets:
    def __init__(self):
        self.kept = {}

    def of(self, x):
        if "x" not in self.kept:
            self.kept["x"] = torch.ones(4, device=x.device)  # born
        return self.kept["x"]  # edit

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.offsets = nn.Linear(4, 4), Offsets()

    def forward(self, x):
        y = self.fc(x)
        return y + self.offsets.of(x)

net = Net().cuda()
net(torch.randn(4, 4).cuda())
nn.DataParallel(net)(torch.randn(4, 4).cuda())
""",
        ("dataparallel-replica-state",),
        "net.offsets.kept['x']",
    ),
    "method of the whole, in replicas": Program(
        """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.way = self.straight

    def straight(self, x):
        return self.fc(x)  # edit

    def forward(self, x):
        return self.way(x)

nn.DataParallel(Net().cuda())(torch.randn(4, 4).cuda())
""",
        ("dataparallel-replica-state",),
        "module.fc.weight",
    ),
    "state of an optimizer of one's own": Program(
        """\
import torch
from torch import nn

class Slow(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["slow"] = p.detach().clone()  # born

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                slow = self.state[p]["slow"]
                slow.add_(p - slow)

def main():
    net = nn.Linear(4, 4)  # edit
    optimizer = Slow(net.parameters())
    net.cuda()
    net(torch.randn(2, 4, device="cuda")).sum().backward()
    optimizer.step()

main()
""",
        ("optimizer-state",),
        "slow",
        "self.state[p]['slow']",
    ),
    "one of two generators": Program(
        """\
import torch

order = torch.Generator()
noise = torch.Generator()  # edit born
torch.randperm(3, generator=order)
torch.randn(3, device="cuda", generator=noise)
""",
        ("generator-device",),
        "noise",
    ),
    "constructor": Program(
        """\
import torch

def score(right):
    count = torch.FloatTensor([4.0, 2.0])  # edit born
    return right.sum(0) / count

score(torch.ones(3, 2, device="cuda"))
""",
        ("created-without-device",),
        "count",
    ),
    "loop over a list": Program(
        """\
import torch
from torch import nn

device = torch.device("cuda")

def train(net, batches):
    for x, y in batches:
        x = x.to(device)  # edit
        out = net(x)
        nn.functional.cross_entropy(out, y)

def main():
    data = [(torch.randn(4, 4), torch.randint(0, 3, (4,)))]  # born
    train(nn.Linear(4, 3).to(device), data)

main()
""",
        ("input-not-moved",),
        "y",
    ),
    "batch in a dict": Program(
        """\
import torch
from torch import nn
from torch.utils.data import DataLoader

def run(net, batch):
    net(**batch)  # edit

def collate(rows):
    return {"input": torch.stack(rows)}

net = nn.Linear(4, 3).to("cuda")
for batch in DataLoader(torch.randn(8, 4), batch_size=4, collate_fn=collate):  # born
    run(net, batch)
""",
        ("input-not-moved",),
        "batch['input']",
    ),
    "derived": Program(
        """\
import torch
from torch import nn

def positions(length):
    steps = torch.arange(length)  # born
    return steps.float() / length

net = nn.Linear(4, 4).cuda()
x = torch.randn(2, 4).cuda()
bias = positions(4)  # edit
print(net(x) + bias.view(1, 4))
""",
        ("created-without-device", "input-not-moved"),
        "bias.view(1, 4)",
    ),
    "handed on under another name": Program(
        """\
import torch
from torch import nn

def run(net, x):
    return net(x)

net = nn.Linear(4, 4).to("cuda")
coords = torch.randn(2, 4)  # edit born
run(net, coords)
""",
        ("input-not-moved",),
        "x",
        "coords",
    ),
    "state that no weight is asked for": Program(
        """\
import torch
from torch import nn

class Momentum(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})

    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]["params"]:
            state = self.state[p]
            if not state:
                state["past"] = torch.zeros(p.shape)  # edit born
            state["past"].add_(p.grad)
            p.sub_(state["past"])

net = nn.Linear(4, 4).to("cuda")
optimizer = Momentum(net.parameters())
net(torch.randn(2, 4, device="cuda")).sum().backward()
optimizer.step()
""",
        ("optimizer-state",),
        "state['past']",
    ),
    "a part of a model on meta": Program(
        """\
import torch
from torch import nn

def extend(net):
    with torch.device("meta"):
        net.head = nn.Linear(4, 2)  # edit born
    return net

net = extend(nn.Sequential(nn.Linear(4, 4)))
net.to("cuda")
""",
        ("meta-tensor",),
        "net.head.weight",
    ),
    "a model on meta that others move": Program(
        """\
import torch
from torch import nn

def build():
    with torch.device("meta"):  # edit
        return nn.Linear(4, 4)  # born

net = build()
list(map(nn.Module.cuda, [net]))
""",
        ("meta-tensor",),
        "net.weight",
    ),
    "models of a checkpoint": Program(
        """\
import torch
from torch import nn

for card in range(2):
    torch.save(nn.Linear(4, 4).to(f"cuda:{card}"), f"{card}.pt")

nets = nn.ModuleList([torch.load(f"{card}.pt", weights_only=False) for card in range(2)])  # edit born
x = torch.randn(2, 4).to("cuda:0")
print([net(x) for net in nets])
""",
        ("checkpoint-location",),
        "nets.1.weight",
    ),
    "a process that has not chosen its device": Program(
        """\
import os
import torch
from torch import nn

os.environ["LOCAL_RANK"] = "1"
local_rank = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", local_rank)  # edit
net = nn.Linear(4, 4).to(device)
x = torch.randn(2, 4)  # born
print(net(x.cuda()))  # moved
""",
        ("rank-device",),
        "x.cuda()",
    ),
    "a loader's own generator": Program(
        """\
import torch
from torch.utils.data import DataLoader

def epoch(loader):
    for batch in loader:
        print(batch.shape)

loaders = {
    "train": DataLoader(torch.randn(8, 3), batch_size=4, shuffle=True),  # edit born
    "test": DataLoader(torch.randn(8, 3), batch_size=4),
}
with torch.device("cuda"):  # a generator is the cpu's all the same
    epoch(loaders["train"])
""",
        ("generator-device",),
        "generator",
    ),
    "lengths of what is packed": Program(
        """\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 4, batch_first=True)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True)  # edit
        return self.rnn(packed)

net = Net().cuda()
sizes = torch.tensor([4, 2]).cuda()  # born
net(torch.randn(2, 4, 3).cuda(), sizes)
""",
        ("host-copy-needed",),
        "lengths",
        "sizes",
    ),
    "a restored table": Program(
        """\
import torch
from torch import nn

torch.save({"mean": torch.zeros(4)}, "table.pt")

class Pipeline:
    def __init__(self, device):
        self.device = device
        self.net = nn.Linear(4, 4).to(device)
        table = torch.load("table.pt")  # edit born
        self.mean = table["mean"]

    def run(self, x):
        return self.net(x.to(self.device) - self.mean)

Pipeline(torch.device("cuda")).run(torch.randn(2, 4))
""",
        ("checkpoint-location",),
        "self.mean",
    ),
    "own-check-in-forward": Program(
        """\
import torch
from torch import nn

class Scan(nn.Module):
    def __init__(self):
        super().__init__()
        self.decay = nn.Parameter(torch.rand(8))

    def forward(self, x, state):
        if not (x.is_cuda and state.is_cuda):
            raise ValueError("Scan expects CUDA tensors, x and state must be on the GPU")
        return x * self.decay + state

net = Scan().cuda()
hidden = torch.zeros(2, 8)  # edit born
net(torch.randn(2, 8).cuda(), hidden)
""",
        ("input-not-moved", "created-without-device"),
        "state",
        "hidden",
    ),
    "own-check-of-one-operand": Program(
        """\
import torch
from torch import nn

class Scan(nn.Module):
    def __init__(self):
        super().__init__()
        self.decay = nn.Parameter(torch.rand(8))

    def forward(self, state):
        assert state.is_cuda, "state must be a CUDA tensor"
        return self.decay + state

net = Scan().cuda()
hidden = torch.zeros(2, 8)  # edit born
net(hidden)
""",
        ("input-not-moved", "created-without-device"),
        "state",
        "hidden",
    ),
    "own-check-of-a-list": Program(
        """\
import torch

def same_device(*tensors):
    first = tensors[0].device
    for one in tensors:
        if one.device != first:
            raise RuntimeError(f"expected all tensors on the same device, got {first} and {one.device}")

boxes = torch.randn(5, 4, device="cuda")
mask = torch.ones(5, 4)  # edit born
same_device(boxes, mask)
""",
        ("created-without-device",),
        "one",
        "tensors[1]",
    ),
    "own-check-where-nothing-is-on-a-gpu": Program(
        """\
import torch

def render(points):
    assert points.is_cuda, "points must be a CUDA tensor"
    return points.sum()

cloud = torch.randn(2, 8)  # edit born
render(cloud)
""",
        ("kernel-needs-gpu",),
        "points",
        "cloud",
    ),
    "backward-of-an-own-function": Program(
        """\
import torch

class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(-1, 1)

    @staticmethod
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        bound = torch.ones(x.shape[-1])  # edit born
        return gradient * (x.abs() < bound)

x = torch.randn(2, 4, device="cuda", requires_grad=True)
Clipped.apply(x).sum().backward()
""",
        ("created-without-device",),
        "bound",
    ),
}
