"""A kernel of the GPU's that is given what is on the cpu: the line that keeps it there."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.casebase.store import Casebase
from diagnose.pipeline import diagnose
from diagnose.sources import Folder, Sources

TRACE = """\
Traceback (most recent call last):
  File "/home/u/run.py", line {line}, in f
    {code}
  File "/opt/lib/python3.11/site-packages/bitsandbytes/functional.py", line 700, in dequantize_blockwise
    torch.ops.bitsandbytes.dequantize_blockwise.out(A, absmax, code, blocksize, out.dtype, out=out)
NotImplementedError: Could not run 'bitsandbytes::dequantize_blockwise.out' with arguments from the 'CPU' backend.
"""
#: Name -> a program; ``# fails`` ends the failing line, ``# here`` the line to edit.
PROGRAMS = {
    "a_default": """\
import torch
from bitsandbytes import functional as F
class Store:
    def __init__(self, weights, device="cpu"):  # here
        self.device = torch.device(device)
        self.weights = weights
    def read(self):
        out = torch.empty(4, 4, device=self.device)
        F.dequantize_blockwise(self.weights, out=out)  # fails
        return out
Store(torch.load("w.pt")).read()
""",
    "an_option": """\
import argparse
import torch
from bitsandbytes import functional as F
parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cpu")  # here
options = parser.parse_args()
buffer = torch.empty(8, device=options.device)
print(F.dequantize_blockwise(buffer))  # fails
""",
    "an_option_of_a_model": """\
import argparse
import torch
from bitsandbytes import functional as F
parser = argparse.ArgumentParser()
parser.add_argument("--where", default="cpu")  # here
options = parser.parse_args()
net = torch.nn.Linear(2, 2).to(options.where)
print(F.dequantize_blockwise(net(torch.rand(3, 2))))  # fails
""",
    "a_move": """\
import torch
from bitsandbytes import functional as F
packed = torch.rand(8).cuda()
kept = packed.to("cpu")  # here
print(F.dequantize_blockwise(kept))  # fails
""",
    "a_factory": """\
import torch
from bitsandbytes import functional as F
buffer = torch.empty(8)  # here
print(F.dequantize_blockwise(buffer))  # fails
""",
}


def test_what_is_handed_to_a_kernel_by_what_starts_it(casebase: Casebase, tmp_path: Path) -> None:
    program = """\
import torch
from kernels import _scaled
rows = torch.rand(4, device="cuda")
scale = rows.square().cpu()  # here
_scaled[(1,)](rows, scale, torch.empty_like(rows))
"""
    (tmp_path / "run.py").write_text(program)
    trace = """\
Traceback (most recent call last):
  File "/home/u/run.py", line 5, in <module>
    _scaled[(1,)](rows, scale, torch.empty_like(rows))
  File "/opt/lib/python3.11/site-packages/triton/runtime/jit.py", line 345, in <lambda>
    return lambda *args, **kwargs: self.run(grid=grid, warmup=False, *args, **kwargs)
ValueError: Pointer argument (at 1) cannot be accessed from Triton (cpu tensor?)
"""
    answer = diagnose(
        trace, casebase=casebase, sources=Sources((Folder(str(tmp_path)),), read=None)
    )
    assert answer.causes[0].id == "kernel-needs-gpu"
    assert answer.culprit is not None
    assert answer.culprit.line == 4


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_that_keeps_it_on_the_cpu(name: str, casebase: Casebase, tmp_path: Path) -> None:
    lines = PROGRAMS[name].split("\n")
    (tmp_path / "run.py").write_text(PROGRAMS[name])
    failing = next(n for n, line in enumerate(lines, 1) if line.endswith("# fails"))
    trace = TRACE.format(line=failing, code=lines[failing - 1].strip())
    sources = Sources((Folder(str(tmp_path)),), read=None)
    answer = diagnose(trace, casebase=casebase, sources=sources)
    assert answer.causes[0].id == "kernel-needs-gpu"
    assert "source-kernel-needs-gpu" in casebase.knowledge.facts
    assert answer.culprit is not None and answer.culprit.line is not None
    assert lines[answer.culprit.line - 1].endswith("# here")


ASKED = """\
import torch
def want(**given):
    for name, one in given.items():
        if not one.is_cuda:
            raise RuntimeError(f"{name} must be a CUDA tensor")  # fails
def scan(rows, scale):
    want(rows=rows, scale=scale)
    return rows * scale
def probe(width, device):
    scale = torch.rand(width).to(device)
    rows = torch.rand(3, width)  # here
    return scan(rows, scale)
probe(4, "cuda")
"""


def test_what_a_check_refuses_is_mended_where_it_is_made(
    casebase: Casebase, tmp_path: Path
) -> None:
    lines = ASKED.split("\n")
    (tmp_path / "run.py").write_text(ASKED)
    numbers = [13, 12, 7, 5]
    frames = "".join(
        f'  File "/home/u/run.py", line {number}, in f\n    {lines[number - 1].strip()}\n'
        for number in numbers
    )
    trace = (
        f"Traceback (most recent call last):\n{frames}RuntimeError: rows must be a CUDA tensor\n"
    )
    sources = Sources((Folder(str(tmp_path)),), read=None)
    diagnosis = diagnose(trace, casebase=casebase, sources=sources)
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.line == 1 + next(
        n for n, line in enumerate(lines) if line.endswith("# here")
    )
    patch = next(fix.edit for fix in diagnosis.causes[0].fixes if fix.edit is not None)
    assert patch.after.split("#")[0].strip() == "rows = torch.rand(3, width).to(device)"
