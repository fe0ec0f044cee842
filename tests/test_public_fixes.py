"""training/public_fixes: what a change of a file is read as."""

from __future__ import annotations

import difflib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "training" / "public_fixes"
sys.path.insert(0, str(FOLDER))

from changes import Read, read  # noqa: E402
from learn_fixes import of_commit, rows, table  # noqa: E402
from walk_commits import commits  # noqa: E402

HEAD = "import torch\nfrom torch import nn\n\n\n"
PAIRS = [
    (
        "a factory gets the device of what it meets",
        "def shift(x):\n    steps = torch.arange(x.shape[1])\n    return x + steps\n",
        "def shift(x):\n    steps = torch.arange(x.shape[1], device=x.device)\n    return x + steps\n",
        (
            "use-like-device-of-other",
            "created-without-device",
            "at-definition",
            "factory",
            "neighbour",
        ),
    ),
    (
        "a factory gets the device that was chosen",
        "def noise(n, device):\n    return torch.randn(n)\n",
        "def noise(n, device):\n    return torch.randn(n).to(device)\n",
        ("create-on-device", "created-without-device", "at-definition", "factory", "variable"),
    ),
    (
        "what was made above is moved where it is used",
        "def shift(x):\n    steps = torch.arange(9)\n    return x + steps\n",
        "def shift(x):\n    steps = torch.arange(9)\n    return x + steps.to(x.device)\n",
        ("move-tensor-at-line", "created-without-device", "at-use", "name", "neighbour"),
    ),
    (
        "a plain attribute becomes a buffer",
        "class P(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.pe = torch.zeros(8)\n",
        "class P(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        '        self.register_buffer("pe", torch.zeros(8))\n',
        ("register-buffer", "unregistered-tensor", "in-init", "attribute", "variable"),
    ),
    (
        "a plain attribute is moved where it is used",
        "class P(nn.Module):\n    def __init__(self):\n        self.pe = torch.zeros(8)\n\n"
        "    def forward(self, x):\n        return x + self.pe\n",
        "class P(nn.Module):\n    def __init__(self):\n        self.pe = torch.zeros(8)\n\n"
        "    def forward(self, x):\n        return x + self.pe.to(x.device)\n",
        ("move-tensor-at-line", "unregistered-tensor", "at-use", "attribute", "neighbour"),
    ),
    (
        "a list becomes a list of modules",
        "class S(nn.Module):\n    def __init__(self):\n        self.heads = [nn.Linear(2, 2)]\n",
        "class S(nn.Module):\n    def __init__(self):\n"
        "        self.heads = nn.ModuleList([nn.Linear(2, 2)])\n",
        ("register-module", "unregistered-submodule", "in-init", "container", "variable"),
    ),
    (
        "a checkpoint is loaded elsewhere",
        'state = torch.load("a.pt")\n',
        'state = torch.load("a.pt", map_location="cpu")\n',
        ("map-location", "checkpoint-location", "at-definition", "load", "host"),
    ),
    (
        "a checkpoint is loaded where the caller says",
        "def load(path, where):\n    return torch.load(path)\n",
        "def load(path, where):\n    return torch.load(path, map_location=where)\n",
        ("map-location", "checkpoint-location", "at-definition", "load", "variable"),
    ),
    (
        "the batch is moved as it comes",
        "def run(model, loader, device):\n    for x, y in loader:\n        model(x)\n",
        "def run(model, loader, device):\n    for x, y in loader:\n        x = x.to(device)\n"
        "        model(x)\n",
        ("move-input", "input-not-moved", "at-entry", "name", "variable"),
    ),
    (
        "the model is moved where it is built",
        "model = nn.Linear(2, 2)\n",
        "model = nn.Linear(2, 2).cuda()\n",
        ("move-module", "module-not-moved", "at-build", "module", "fixed"),
    ),
    (
        "an index follows what it indexes",
        "def pick(x, rows):\n    return x[rows]\n",
        "def pick(x, rows):\n    return x[rows.to(x.device)]\n",
        ("index-to-device", "index-device", "at-use", "name", "neighbour"),
    ),
    (
        "NumPy gets what is on the host",
        "def out(y):\n    return y.detach().numpy()\n",
        "def out(y):\n    return y.detach().cpu().numpy()\n",
        ("cpu-before-numpy", "host-copy-needed", "at-use", "name", "host"),
    ),
    (
        "a fixed device gives way",
        "def ones(x):\n    return torch.ones(3).cuda() + x\n",
        "def ones(x):\n    return torch.ones(3).to(x.device) + x\n",
        ("use-like-device-of-other", "hardcoded-device", "at-definition", "factory", "neighbour"),
    ),
    (
        "the move comes after the last change",
        "def build(model, device):\n    model.to(device)\n    model.fc = nn.Linear(2, 2)\n"
        "    model.eval()\n",
        "def build(model, device):\n    model.fc = nn.Linear(2, 2)\n"
        "    model.eval()\n    model.to(device)\n",
        ("reorder-move-after-build", "", "at-build", "statement", "variable"),
    ),
    (
        "what a load gives is a module by its name",
        "def best(path, device):\n    model = torch.jit.load(path)\n    return model\n",
        "def best(path, device):\n    model = torch.jit.load(path)\n    model = model.to(device=device)\n"
        "    return model\n",
        ("move-module", "module-not-moved", "at-build", "module", "variable"),
    ),
    (
        "a class whose name is in capitals is a module",
        "model = SAGE(4, 2)\n",
        "model = SAGE(4, 2).to(device)\n",
        ("move-module", "module-not-moved", "at-build", "module", "variable"),
    ),
    (
        "a parameter of a loop over models is a tensor",
        "def update(ema, model, device):\n    for e, p in zip(ema.parameters(), model.parameters()):\n"
        "        e.lerp_(p, 0.1)\n",
        "def update(ema, model, device):\n    for e, p in zip(ema.parameters(), model.parameters()):\n"
        "        e.lerp_(p.to(device), 0.1)\n",
        ("move-tensor-at-line", "", "at-use", "name", "variable"),
    ),
    (
        "an attribute of a model is no module",
        "def load(model, x):\n    model.eval()\n",
        "def load(model, x):\n    model.eval()\n    model.logvar = model.logvar.to(device=x.device)\n",
        ("move-tensor-at-line", "", "at-entry", "attribute", "neighbour"),
    ),
    (
        "an item of a call is made there",
        "def prior(self):\n    theta = self.simulations()[0]\n    return theta\n",
        "def prior(self):\n    theta = self.simulations()[0].to(self.device)\n    return theta\n",
        ("move-tensor-at-line", "", "at-definition", "index", "variable"),
    ),
    (
        "a tensor after `to` is a neighbour",
        "def blur(luma):\n    kernel = gaussian(3)\n    return luma * kernel\n",
        "def blur(luma):\n    kernel = gaussian(3).to(luma)\n    return luma * kernel\n",
        ("move-tensor-at-line", "", "at-definition", "call", "neighbour"),
    ),
    (
        "a loop hides what stood above it",
        "def run(model, loader, device):\n    y = make()\n    for x, y in loader:\n        model(x, y)\n",
        "def run(model, loader, device):\n    y = make()\n    for x, y in loader:\n"
        "        y = y.to(device)\n        model(x, y)\n",
        ("move-input", "input-not-moved", "at-entry", "name", "variable"),
    ),
    (
        "items of a dict are not always a batch",
        "def fold(found, device):\n    for node, value in found.items():\n        put(node, value)\n",
        "def fold(found, device):\n    for node, value in found.items():\n"
        "        value = value.to(device)\n        put(node, value)\n",
        ("move-tensor-at-line", "", "at-entry", "name", "variable"),
    ),
    (
        "what a checkpoint holds is no input",
        'def load(self, state, device):\n    self.mean = state["mean"]\n',
        'def load(self, state, device):\n    self.mean = state["mean"].to(device)\n',
        ("move-tensor-at-line", "", "at-entry", "index", "variable"),
    ),
    (
        "a parameter in a loop is no input",
        "def sync(state, device):\n    for name, param in state.items():\n        send(param)\n",
        "def sync(state, device):\n    for name, param in state.items():\n"
        "        param = param.to(device)\n        send(param)\n",
        ("move-tensor-at-line", "", "at-entry", "name", "variable"),
    ),
    (
        "a constant becomes a parameter that is not learned",
        "class P(nn.Module):\n    def __init__(self):\n        self.t = torch.zeros(8)\n",
        "class P(nn.Module):\n    def __init__(self):\n"
        "        self.t = nn.Parameter(torch.zeros(8), False)\n",
        ("register-buffer", "unregistered-tensor", "in-init", "attribute", "variable"),
    ),
    (
        "an audio file is no checkpoint",
        "def chunks(path, device):\n    wave, rate = torchaudio.load(path)\n    return wave\n",
        "def chunks(path, device):\n    wave, rate = torchaudio.load(path)\n"
        "    wave = wave.to(device)\n    return wave\n",
        ("move-tensor-at-line", "", "at-definition", "name", "variable"),
    ),
    (
        "a restored optimizer's state is moved",
        "def resume(optimizer, device):\n    for state in optimizer.state.values():\n"
        "        for k, v in state.items():\n            print(k)\n",
        "def resume(optimizer, device):\n    for state in optimizer.state.values():\n"
        "        for k, v in state.items():\n            state[k] = v.to(device)\n            print(k)\n",
        ("move-optimizer-state", "optimizer-state", "at-use", "statement", "variable"),
    ),
]


def changed(before: str, after: str) -> Read:
    """The change of a file as Git cuts it, without lines around."""
    return read(HEAD + before, HEAD + after, cut(HEAD + before, HEAD + after))


def cut(before: str, after: str) -> list[tuple[int, int, int, int]]:
    a, b = before.split("\n"), after.split("\n")
    hunks = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            hunks.append((i + (j > i), j - i, k + (m > k), m - k))
    return hunks


def commit(message: str, before: str, after: str, head: str = HEAD) -> dict[str, Any]:
    """A commit as `walk_commits.py` keeps it."""
    before, after = head + before, head + after
    file = {"path": "code.py", "hunks": cut(before, after), "before": before, "after": after}
    return {"sha": "0", "date": "2026-01-01", "message": message, "files": [file]}


@pytest.mark.parametrize(
    ("before", "after", "wanted"), [p[1:] for p in PAIRS], ids=[p[0] for p in PAIRS]
)
def test_a_fix_is_read_off_the_files(before: str, after: str, wanted: tuple[str, ...]) -> None:
    found = changed(before, after)
    [edit] = found.edits
    assert (edit.kind, edit.cause, edit.place, edit.expression, edit.to) == wanted
    assert found.others == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = x.to(device)\n", "y = x.to(other)\n"),  # which was wrong cannot be read
        ("y = x.to(device)\n", "y = x.to(device, non_blocking=True)\n"),
        ("y = x.to(device=device)\n", "y = x.to(dtype=dtype, device=device)\n"),
        ("model = model.cuda()\n", "model.cuda()\n"),
        ("h = h.float()\n", "h = h.cpu().float()\n"),  # for memory, or for nobody knows
        ("x = x.cuda(cuda_device=n)\n", "x = x.cuda(device=n)\n"),  # another name for the same
        ("r = r.to(dtype=t).to(device=d)\n", "r = r.to(device=d, dtype=t)\n"),
        ('net = Net(device="meta")\n', "net = Net(device=device)\n"),  # built so on purpose
        ("x = x.float()\n", "x = x.float()\nx = x.type_as(y)\n"),  # for the type
        ("y = f(x)\n", "y = f(x.cpu()).to(x.device)\n"),  # done on the host on purpose
        ("ids = f(x)\n", "ids = f(x)\nids.to(device)\n"),  # a tensor stays where it is
        ("pad = f(x)\n", "pad = f(x)\nif pad.dtype != x.dtype:\n    pad = pad.to(x)\n"),
        (  # only stands elsewhere
            "img = f(x)\nimg = img.to(device)\n",
            "img = f(x).to(device)\n",
        ),
        (
            "net = Net().to(device)\nnet.eval()\n",
            "net = Net().eval()\nif whole:\n    net.to(device)\n",
        ),
        (
            "torch.cuda.set_device(rank)\n",
            "if npu:\n    torch.npu.set_device(rank)\nelse:\n    torch.cuda.set_device(rank)\n",
        ),
        ("n = 1\n", "n = 1\ntorch.cuda.set_device(0)\n"),  # of no rank
        ("box = TensorDict(rows)\n", "box = TensorDict(rows, device=device)\n"),
        ("net = f(x)\n", 'net = f(x)\nnet = net.to("cpu" if small else "meta")\n'),  # given up
        ("self.w = torch.zeros(3)\n", "self.w = nn.Parameter(torch.zeros(3))\n"),  # to be learned
        ("super().cuda()\n", "super().cuda(device)\n"),  # handed on
        (
            "s.set_steps(n)\nsteps = s.steps.to(device)\n",
            "s.set_steps(n, device=device)\nsteps = s.steps\n",
        ),
        ("x = x.to(dtype).cuda(device)\n", "x = x.to(device=device, dtype=dtype)\n"),
        (  # a function that is new
            "def f(x):\n    return x\n",
            "def f(x):\n    return x\n\n\ndef g(x, device):\n    x = x.to(device)\n    return x\n",
        ),
        (  # nothing of the model is built between
            "def f(self, model):\n    model.to(self.device)\n    self.before.offload()\n    return 1\n",
            "def f(self, model):\n    self.before.offload()\n    model.to(self.device)\n    return 1\n",
        ),
    ],
)
def test_what_moves_nothing_that_was_astray_is_no_fix(before: str, after: str) -> None:
    assert changed(before, after).edits == ()


@pytest.mark.parametrize(
    ("message", "counts"),
    [
        ("update helpers", True),
        ("fix device mismatch when the decoder is offloaded to save memory", True),
        ("Fix CUDA error on illegal memory access", True),
        ("load the checkpoint on the host\n\nIt ran out of memory before.", False),
        ("fix fp16 bug of the mask\n\nThe last fix of its device set no type.", False),
        ("[Feature] Support MLU devices", False),
        ("Revert what was said of devices", False),
        ("Moved the sensor's network to GPU", False),
    ],
)
def test_a_message_may_tell_another_reason(message: str, counts: bool) -> None:
    assert bool(list(of_commit(commit(message, *PAIRS[0][1:3]), "someone/thing"))) is counts


def test_other_libraries_have_devices_too() -> None:
    before, after = "x = f(x)\n", "x = f(x).to(device)\n"
    for head, counts in (("import jax\n", False), ("import torch\n", True)):
        found = commit("fix device mismatch", head + before, head + after, head="")
        assert bool(list(of_commit(found, "someone/thing"))) is counts


def test_an_order_counts_where_the_message_speaks_of_devices() -> None:
    before, after = next(one[1:3] for one in PAIRS if one[3][0] == "reorder-move-after-build")
    for message, counts in (("fix merge", False), ("fix device mismatch", True)):
        found = list(of_commit(commit(message, before, after), "someone/thing"))
        assert bool(found) is counts


def test_a_change_of_something_else_is_counted() -> None:
    found = changed("a = torch.zeros(3)\n", "a = torch.zeros(3, device=device)\nb = a * 2\n")
    assert [edit.kind for edit in found.edits] == ["create-on-device"]
    assert found.others == 1


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_a_history_gives_rows_of_facts(tmp_path: Path) -> None:
    """A repository with one fix, one change of something else, and one of tests only."""
    import gzip
    import json

    repo = tmp_path / "someone+thing" / "repo"
    (repo / "tests").mkdir(parents=True)
    git(repo, "init", "-q")
    code = repo / "code.py"
    before, after = PAIRS[0][1:3]
    for text, message in (
        (before, "begin"),
        (after, "Fix device mismatch"),
        (after + "\nTWO = 2\n", "count to two"),
    ):
        code.write_text(HEAD + text, encoding="utf-8")
        (repo / "tests" / "test_code.py").write_text(f"device = {len(text)}\n", encoding="utf-8")
        git(repo, "add", ".")
        git(repo, "commit", "-q", "-m", message)
    kept = tmp_path / "someone+thing.jsonl.gz"
    with gzip.open(kept, "wt", encoding="utf-8") as out:
        for found in commits(repo / ".git"):
            print(json.dumps(found), file=out)
    [row] = rows(kept)
    assert row["repository"] == "someone/thing"
    assert (row["path"], row["line"], row["function"]) == ("code.py", 6, "shift")
    assert (row["fix"], row["cause"]) == ("use-like-device-of-other", "created-without-device")
    assert not any("arange" in str(value) or "mismatch" in str(value) for value in row.values())
    line = "| created-without-device | 1 | 1 | `use-like-device-of-other` 1.00 | `at-definition` 1.00 |"
    assert line in table([row])
