"""Programs that are large, deep or hostile: the analysis ends, within its budget, and is never a crash."""

from __future__ import annotations

import ast
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from parsing.knowledge import torch

from diagnose.placement import Source
from diagnose.placement.analysis import analyse
from diagnose.placement.localization.suspects import of_meeting
from diagnose.placement.machine import TOTAL
from diagnose.placement.tensors import WIDEST

HEAD = "import torch\nfrom torch import nn\n"
MODULE = HEAD + "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
#: Calls that the analysis knows.
CALLS = """
    torch.load torch.tensor torch.cat torch.Generator torch.device torch.cuda.set_device torch.stack torch.where
    torch.set_default_device torch.compile torch.hub.load torch.optim.Adam torch.optim.Adagrad copy.deepcopy
    nn.Linear nn.Sequential nn.ModuleList nn.ModuleDict nn.DataParallel nn.Parameter nn.Module nn.Module.to
    nn.Embedding.from_pretrained nn.parallel.DistributedDataParallel nn.functional.linear torch.Tensor.to
    nn.utils.rnn.pad_sequence nn.utils.rnn.pad_packed_sequence nn.utils.rnn.pack_padded_sequence
    torch.utils.data.DataLoader torch.utils.data.TensorDataset torch.utils.data.random_split
    nn.Linear(2,2).to nn.Linear(2,2).load_state_dict nn.Linear(2,2).register_buffer nn.LSTM(2,2) nn.Linear(2,2)
    torch.ones(2).to torch.ones(2).cuda torch.ones(2).new_zeros torch.ones(2).type_as torch.ones(2).index_add_
    [].append {}.update {}.setdefault {}.get [].extend [].insert [].pop {}.items 'x'.join
    map zip sum max min getattr setattr next iter dict list enumerate range super isinstance int float abs
    """
ODD = """\
{call}(*[], **{{}})
{call}(None, None, None)
{call}(*x, **y)
{call}([], {{}}, ())
{call}(device=None)
{call}('cuda:99999999999999999999', device='x:y')
{call}(-1, device=-1)
{call}(torch, nn)
{call}(1.5, True)
{call}(1e999, [[]])
{call}(device={call})
"""
#: Each says in its name what is hostile about it.
PROGRAMS: dict[str, Callable[[], str]] = {
    "a list added to itself": lambda: "x = [1]\nx += x\ny = [x]\ny += y + y\n",
    "a list that doubles": lambda: "x = [1, 2]\n" + "x = x + x\n" * 400,
    "a list that is extended by itself": lambda: "x = [1, 2]\n" + "x.extend(x)\nx += x\n" * 400,
    "a list in itself": lambda: (
        HEAD + "x = [torch.ones(3)]\nx.append(x)\nx[0] = x\nx[0][0][0] + torch.ones(3)\n"
        "torch.cat(x)\nm = nn.Linear(3, 3).cuda()\nm(x)\n"
    ),
    "a dict in itself": lambda: (
        "d = {}\nd['d'] = d\nd.update(d)\nd = {**d, **d}\nd['d']['d'].items()\nf(**d)\n"
    ),
    "a module in itself": lambda: (
        MODULE + "        self.fc = nn.Linear(2, 2)\n        self.me = self\n"
        "m = M()\ntorch.optim.Adam(m.parameters()).step()\nm.cuda()\nm.apply(print)\nm.me.fc(torch.rand(1, 2))\n"
    ),
    "lists of lists, shared": lambda: (
        HEAD + "x = [torch.ones(2)]\n" + "x = [x, x, x, x]\n" * 60 + "torch.cat(x)\n"
        "from accelerate import Accelerator\na = Accelerator()\n"
        "from torch.utils.data import DataLoader\nfor b in a.prepare(DataLoader(x)):\n    b + 1\n"
    ),
    "a model in itself": lambda: (
        MODULE + "        self.me = self\n        self.l = nn.Linear(2, 2)\n"
        "m = M()\nm.m = m\nm.cuda()\nimport copy\nn = copy.deepcopy(m)\nn(torch.ones(2))\n"
    ),
    "models shared again and again": lambda: (
        HEAD
        + "m = nn.Linear(2, 2)\n"
        + "m = nn.Sequential(m, m, m)\n" * 30
        + "import copy\nm.cuda()\ncopy.deepcopy(m)(torch.ones(2))\n"
    ),
    "a chain of models": lambda: (
        HEAD + "m = nn.Linear(2, 2)\n" + "m = nn.Sequential(m)\n" * 1200 + "m.cuda()\n"
    ),
    "classes of many bases": lambda: (
        HEAD
        + "".join(f"class A0{i}(nn.Module): pass\n" for i in range(6))
        + "".join(
            f"class A{n}{i}({', '.join(f'A{n - 1}{j}' for j in range(6))}): pass\n"
            for n in range(1, 9)
            for i in range(6)
        )
        + "m = A80().cuda()\nm.x\nm.y\nm(torch.ones(2))\n"
    ),
    "a class that is its own base": lambda: "class A: pass\nclass A(A): pass\nA.x\nA().y()\n",
    "functions that call themselves": lambda: (
        "def f(x):\n    return f(f(x)) + f(x)\ndef g(x):\n    return h(x), h(x)\n"
        "def h(x):\n    return g(x), g(x)\nf(1)\ng(1)\n"
    ),
    "functions that call the next one twice": lambda: (
        "def f0(x):\n    return x\n"
        + "".join(f"def f{n}(x):\n    return f{n - 1}(x), f{n - 1}(x)\n" for n in range(1, 60))
        + "f59(1)\n"
    ),
    "classes that make themselves": lambda: (
        "class A:\n    def __init__(self):\n        self.a = A()\n        self.b = A()\nA()\n"
    ),
    "decorators that decorate themselves": lambda: (
        "def d(f):\n    @d\n    def g(*a, **k):\n        return d(g)(*a, **k)\n    return g\n"
        "@d\n@d\ndef f():\n    return f()\nf()\n"
    ),
    "lambdas that call themselves": lambda: (
        "f = lambda x: f(f(x))\nf(1)\n(lambda g: g(g))(lambda g: g(g))\n"
    ),
    "a property that asks for itself": lambda: (
        "class A:\n    @property\n    def p(self):\n        return self.p.p\nA().p\n"
    ),
    "an index that indexes itself": lambda: (
        "class A:\n    def __getitem__(self, i):\n        return self[self[i]]\nA()[0]\n"
    ),
    "a string that doubles": lambda: "s = 'x'\n" + "s = s + s\n" * 400 + "t = f'{s}{s}'\n" * 50,
    "a number that grows": lambda: "n = 10\n" + "n = n * n\n" * 400 + "n << n\nn ** n\n",
    "a format that is wide": lambda: (
        "f'{1:999999999}'\n'%999999999d' % 1\n'x' * 10**9\n[0] * 10**9\n"
    ),
    "ifs with many variables": lambda: (
        "".join(f"v{n} = {n}\n" for n in range(3000))
        + "".join(f"if a{n}:\n    v{n} = 0\nelse:\n    v{n} = 1\n" for n in range(3000))
    ),
    "five thousand branches": lambda: (
        "if a:\n    x = 0\n"
        + "".join(f"elif a == {n}:\n    x = {n}\n" for n in range(900))
        + "".join(f"if b{n}: y = {n}\n" for n in range(5000))
    ),
    "branches within branches": lambda: "".join(
        f"{' ' * n}if a{n}:\n{' ' * n} x{n} = {n}\n" for n in range(90)
    ),
    "comprehensions among many variables": lambda: "".join(
        f"v{n} = [i for i in range({n})]\n" for n in range(4000)
    ),
    "loops within loops": lambda: (
        "".join(f"{' ' * n}for i{n} in [1, 2, 3, 4, 5, 6, 7, 8]:\n" for n in range(18))
        + " " * 18
        + "x = 1\n"
    ),
    "a huge list": lambda: "x = [" + "1, " * 200_000 + "]\ny = list(x)\nz = x + y\n",
    "a huge list that is copied": lambda: (
        "x = [" + "1, " * 40_000 + "]\n" + "y = list(x)\n" * 5_000
    ),
    "a huge dict": lambda: (
        "x = {" + "".join(f"{n}: {n}, " for n in range(50_000)) + "}\ny = dict(x)\n"
    ),
    "a huge dict that is copied": lambda: (
        "x = {" + "".join(f"{n}: 1, " for n in range(20_000)) + "}\n" + "y = {**x}\n" * 5_000
    ),
    "a megabyte in one line": lambda: "a.b.c(d.e.f); " * 70_000,
    "a line that is long and not ASCII": lambda: "'ä'; " + "a.b.c(d.e.f); " * 10_000,
    "a megabyte of functions": lambda: "".join(
        f"def f{n}(a, b):\n    x = a + b\n    return f{n - 1 if n else 0}(x, b), f{n // 2}(x, b)\n\n"
        for n in range(12_000)
    ),
    "many operations": lambda: (
        HEAD + "x = torch.ones(2).cuda()\ny = torch.ones(2)\n" + "z = x + y\n" * 30_000
    ),
    "many findings": lambda: (
        HEAD
        + "m = nn.Linear(2, 2).cuda()\n"
        + "m(torch.ones(2))\nn = nn.Linear(2, 2)\nn(torch.ones(2).cuda())\n" * 4_000
    ),
    "a function of many parameters": lambda: (
        HEAD
        + "class M(nn.Module):\n    def forward(self, "
        + ", ".join(f"p{n}" for n in range(3000))
        + "):\n"
        + "".join(f"        p{n}.foo + p{n}.bar\n" for n in range(3000))
    ),
    "a call of many arguments": lambda: (
        "def f(*a, **k):\n    return g(*a, *a, **k)\ndef g(*a, **k):\n    return f(*a, *a, **k)\n"
        "f(" + "1, " * 5000 + ")\n"
    ),
    "a long sum": lambda: "x = " + " + ".join(["a"] * 900) + "\n",
    "a long chain": lambda: "x = a" + ".b()" * 900 + "\n",
    "a deep list": lambda: "x = " + "[" * 150 + "]" * 150 + "\n",
    "a function called from a thousand places": lambda: (
        "def f(x):\n" + "    y = x\n" * 400 + "    return y\n" + "f(1)\n" * 5000
    ),
    "names that are not ASCII": lambda: (
        "ä = [1]\nµ = ä\nclass 模型:\n    def 前(自, x):\n        return 自.前(x)\n模型().前(ä)\n"
    ),
    "form feeds": lambda: "import torch\n\x0c\nx = torch.ones(2)\n\x0c\nx.cuda() + x\n",
    "carriage returns": lambda: "import torch\r\nx = torch.ones(2)\r\nx.cuda() + x\r\n",
    "an empty file": lambda: "",
    "modern syntax": lambda: (
        "match x:\n    case {'a': [1, *r], **k} if r:\n        y = r\n    case A(b=c) | c:\n        y = c\n"
        "async def f():\n    async with a as b, c as (d, e):\n        return [i async for i in b]\n"
        "try:\n    pass\nexcept* ValueError as e:\n    x: int\n(yy := 3)\nprint(*a, **b, c=1)\n"
        "def g(a, /, b, *, c=1, **d): yield from a\nx = a if b else c\nx[1:2, ..., None] @= 3\n"
        "del x[0], y.z, w\nglobal q\nassert x, y\nlambda *a, b=1, **c: (yield)\n"
    ),
    "a starred target": lambda: (
        "a, *b, c = x\n[d, [*e, f]] = y\nfor g, *h in z: pass\n(*i,) = []\n"
    ),
    "super outside of classes": lambda: (
        "super().x()\nsuper(A, b).y\nself.z = 1\nreturn_ = super\nreturn_()\n"
    ),
    "library calls without arguments": lambda: HEAD + "".join(f"{c}()\n" for c in CALLS.split()),
    "library calls of odd arguments": lambda: (
        HEAD + "".join(ODD.format(call=call) for call in CALLS.split())
    ),
}


@pytest.fixture
def _little_memory() -> Iterator[None]:
    """What takes 500 MB more than there is now fails; where the system tells how much that is."""
    if not sys.platform.startswith("linux"):
        yield
        return
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 500_000_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.usefixtures("_little_memory")
def test_the_analysis_ends_within_its_budget(name: str) -> None:
    program = analyse(Source("hostile.py", *_read(PROGRAMS[name]())), torch())
    assert program.spent <= TOTAL
    for meeting in program.meetings:
        assert len(meeting.sides) <= WIDEST * WIDEST
        list(of_meeting(meeting))


def _read(text: str) -> tuple[tuple[str, ...], ast.Module]:
    return tuple(text.split("\n")), ast.parse(text)
