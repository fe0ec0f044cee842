"""Failures that no two operands explain: what the failing line asks for is set somewhere, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.casebase.store import Casebase
from diagnose.pipeline import diagnose
from diagnose.sources import Folder, Sources

HEAD = "import torch\nfrom torch import nn\n"
NO_SUCH = "torch.AcceleratorError: CUDA error: invalid device ordinal"
QUANTIZED = (
    "ValueError: `.to` is not supported for `8-bit` bitsandbytes models. Please use the model as it is, "
    "since the model has already been set to the correct devices and casted to the correct `dtype`."
)
DDP = (
    "ValueError: DistributedDataParallel device_ids and output_device arguments only work with "
    "single-device/multiple-device GPU modules or CPU modules, but got device_ids [0], output_device None, "
    "and module parameters {device(type='cuda', index=0), device(type='cuda', index=1)}."
)
APART = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
#: Name -> the error, the cause, the program, and the line that its first edit makes of the line that ends
#: with ``# here``; the line that fails ends with ``# fails`` or ``# here``.
PROGRAMS = {
    "a GPU that an option asks for": (
        NO_SUCH,
        "hardcoded-device",
        """\
import argparse
options = argparse.ArgumentParser()
options.add_argument("--card", type=int, default=6)  # here
options.add_argument("--rows", type=int, default=6)
args = options.parse_args()
scratch = torch.zeros(args.rows, device=args.card)  # fails
""",
        'options.add_argument("--card", type=int, default=0)  # here',
    ),
    "a GPU that a field of the settings asks for": (
        NO_SUCH,
        "hardcoded-device",
        """\
from dataclasses import dataclass
@dataclass
class Settings:
    rows: int = 3
    place: str = "cuda:6"  # here
def build(settings):
    return torch.zeros(settings.rows, device=settings.place)  # fails
build(Settings())
""",
        '    place: str = "cuda"  # here',
    ),
    "a GPU that an entry asks for": (
        NO_SUCH,
        "hardcoded-device",
        """\
SETTINGS = {"rows": 3, "spare": 5}  # here
scratch = torch.zeros(SETTINGS["rows"], device=SETTINGS["spare"])  # fails
""",
        'SETTINGS = {"rows": 3, "spare": 0}  # here',
    ),
    "a part that a written map leaves on the host, and a line reads": (
        APART,
        "offloaded-to-cpu",
        """\
from accelerate import dispatch_model
class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.end = nn.Embedding(9, 4), nn.Linear(4, 4)
    def forward(self, ids):
        return self.end(self.table(ids))
net = dispatch_model(Scorer(), device_map={
    "table": 0,
    "end": "cpu",  # here
})
rows = net.table(torch.tensor([1], device="cuda:0"))
scale = rows * net.end.weight.norm(dim=0)  # fails
""",
        '    "end": 0,  # here',
    ),
    "an offload that a call asks for, of a table whose weight is read": (
        APART,
        "offloaded-to-cpu",
        """\
from accelerate import cpu_offload
class Shop(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.end = nn.Embedding(9, 4), nn.Linear(4, 4)
    def score(self, ids):
        return self.end(self.table(ids)) * self.table.weight[0]  # fails
shop = Shop()
shop.end.to("cuda")
cpu_offload(shop.table, execution_device="cuda")  # here
shop.score(torch.tensor([1], device="cuda"))
""",
        'shop.table.to("cuda")  # here',
    ),
    "GPUs that a table lists": (
        '  File "/opt/lib/python3.11/site-packages/torch/nn/parallel/data_parallel.py", line 165, in __init__\n'
        "    _check_balance(self.device_ids)\n"
        '  File "/opt/lib/python3.11/site-packages/torch/cuda/__init__.py", line 740, in get_device_properties\n'
        '    raise AssertionError("Invalid device id")\n'
        "AssertionError: Invalid device id",
        "hardcoded-device",
        """\
TABLE = {"rows": 3, "cards": [0, 1, 2, 3, 4, 5]}  # here
def wrapped(net, cards):
    return nn.DataParallel(net.cuda(cards[0]), device_ids=cards)  # fails
wrapped(nn.Linear(2, 2), TABLE["cards"])
""",
        'TABLE = {"rows": 3, "cards": list(range(torch.cuda.device_count()))}  # here',
    ),
    "a GPU that another object keeps": (
        NO_SUCH,
        "hardcoded-device",
        """\
class Job:
    def __init__(self):
        self.rows, self.place = 3, "cuda:6"  # here
def build(job):
    return torch.zeros(job.rows, device=job.place)  # fails
build(Job())
""",
        '        self.rows, self.place = 3, "cuda"  # here',
    ),
    "a quantized model that is moved": (
        QUANTIZED,
        "quantized-placement",
        """\
from transformers import AutoModelForCausalLM
net = AutoModelForCausalLM.from_pretrained("m", load_in_8bit=True)
head = nn.Linear(2, 2)
head.to("cuda")
net = net.to("cuda")  # here
""",
        None,
    ),
    "a split model that is told one device": (
        DDP,
        "device-map-under-training",
        """\
from torch.nn.parallel import DistributedDataParallel
def launch(halves, rank):
    return DistributedDataParallel(halves, device_ids=[rank])  # here
launch(torch.load("m.pt"), 0)
""",
        "    return DistributedDataParallel(halves)  # here",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_that_asks_is_edited(name: str, casebase: Casebase, tmp_path: Path) -> None:
    error, cause, text, after = PROGRAMS[name]
    lines = f"{HEAD}{text}".split("\n")
    here = next(n for n, line in enumerate(lines, 1) if line.endswith("# here"))
    fails = next((n for n, line in enumerate(lines, 1) if line.endswith("# fails")), here)
    (tmp_path / "run.py").write_text("\n".join(lines))
    trace = (
        "Traceback (most recent call last):\n"
        f'  File "/home/u/run.py", line {fails}, in <module>\n    {lines[fails - 1].strip()}\n{error}\n'
    )
    sources = Sources((Folder(str(tmp_path)),), read=None)
    diagnosis = diagnose(trace, casebase=casebase, sources=sources)
    first = diagnosis.causes[0]
    assert first.id == cause
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.line == here
    edit = next(fix.edit for fix in first.fixes if fix.edit is not None)
    changed = [line for line in edit.after.split("\n") if line not in lines]
    assert changed == ([] if after is None else [after])
    assert edit.line <= here <= edit.line + edit.before.count("\n")
