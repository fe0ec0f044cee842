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

#: One mistake: the inputs.
ONE = """\
import torch
from torch import nn

torch.manual_seed(1)
device = torch.device("cuda")
model = nn.Linear(4, 3).to(device)
inputs = torch.randn(8, 4)
print(model(inputs).sum().item())
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

#: A model that one method puts away, and another one calls.
PUT_AWAY = """\
import torch
from torch import nn


class Both:
    def __init__(self, device):
        self.device = device
        self.one, self.other = (nn.Linear(3, 3).to(device) for _ in range(2))

    def put_away(self, *models):
        for model in models:
            model.to("cpu")

    def run(self, x):
        x = self.one(x)
        self.put_away(self.one, self.other)
        return self.other(x)


print(Both("cuda").run(torch.ones(2, 3, device="cuda")).sum().item())
"""
#: Programs by what is wrong with them, and a line of the diff that mends them: no answer proposes it.
ORIGINS = {
    "two shards meet in an expression": (
        """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4).to("cuda:0")
        self.second = nn.Linear(4, 4).to("cuda:1")
        self.norm = nn.LayerNorm(4).to("cuda:1")

    def forward(self, x):
        early = self.first(x)
        late = self.second(early.to("cuda:1"))
        return self.norm(late) + 0.1 * early


print(Net()(torch.ones(2, 4, device="cuda:0")).sum().item())
""",
        "+        return self.norm(late) + (0.1 * early).to(late.device)",
    ),
    "a loss that keeps targets, and that nobody moves": (
        """\
import torch
from torch import nn


class Loss(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.targets = torch.zeros(count, 2)

    def forward(self, index, scores):
        self.targets[index] = 0.5 * self.targets[index] + scores.detach().softmax(1)
        return (self.targets[index] * scores).sum()


device = "cuda:1"
net = nn.Linear(3, 2).to(device)
loss = Loss(6)
for _ in range(2):
    print(loss(torch.tensor([0, 2], device=device), net(torch.ones(2, 3, device=device))).item())
""",
        '+        self.register_buffer("targets", torch.zeros(count, 2), persistent=False)',
    ),
    "replicas that share the layers of a plain list": (
        """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Linear(4, 4)
        self.high = nn.Linear(4, 4)
        self.both = [self.low, self.high]

    def forward(self, x):
        return sum(self.both[at](x) for at in range(2))


torch.manual_seed(1)
net = nn.DataParallel(Net().cuda(), device_ids=[0, 1])
print(net(torch.randn(4, 4).cuda()).sum().item())
""",
        "+        self.both = nn.ModuleList([self.low, self.high])",
    ),
    "statistics that were saved": (
        """\
import tempfile
import torch

FILE = tempfile.mktemp()
torch.save({"mean": torch.ones(3), "count": 4}, FILE)


class Pipeline:
    def __init__(self, device):
        stats = torch.load(FILE)
        self.mean, self.device = stats["mean"], device

    def __call__(self, x):
        return x.to(self.device) - self.mean


pipeline = Pipeline(torch.device("cuda:0"))
for _ in range(3):
    print(pipeline(torch.ones(2, 3)).sum().item())
""",
        "+        stats = torch.load(FILE, map_location=device)",
    ),
    "a skeleton that gets its weights later": (
        """\
import torch
from torch import nn

torch.manual_seed(0)
weights = nn.Linear(4, 3).state_dict()
with torch.device("meta"):
    model = nn.Linear(4, 3)
model = model.to("cuda:0")
model.load_state_dict(weights)
print(model(torch.ones(2, 4, device="cuda:0")).sum().item())
""",
        '+model = model.to_empty(device="cuda:0")',
    ),
}
