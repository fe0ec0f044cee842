"""The source tree of a library is its user's own code where they named the folder, and a library elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.pipeline import diagnose
from diagnose.sources import Folder, Sources

FEATURES = """import torch


class Deltas(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.kernel = torch.arange(
            -n, n + 1, dtype=torch.float32,
        ).repeat(1, 1, 1)

    def forward(self, x):
        return torch.nn.functional.conv1d(x, self.kernel)
"""
SCRIPT = """import torch
from speechbrain.processing.features import Deltas

deltas = Deltas(2).to("cuda")
print(deltas(torch.randn(4, 1, 16, device="cuda")))
"""
TRACE = """Traceback (most recent call last):
  File "/home/u/job.py", line 5, in <module>
    print(deltas(torch.randn(4, 1, 16, device="cuda")))
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "{folder}/speechbrain/processing/features.py", line 12, in forward
    return torch.nn.functional.conv1d(x, self.kernel)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "speechbrain" / "processing").mkdir(parents=True)
    (tmp_path / "speechbrain" / "processing" / "features.py").write_text(FEATURES)
    (tmp_path / "job.py").write_text(SCRIPT)
    return tmp_path


@pytest.mark.parametrize("printed", ["/home/u/speechbrain", "{checkout}"])
def test_a_named_checkout_is_read_and_edited_as_own_code(checkout: Path, printed: str) -> None:
    trace = TRACE.format(folder=printed.format(checkout=checkout))
    answer = diagnose(trace, sources=Sources([Folder(str(checkout))]))
    assert answer.causes[0].id == "unregistered-tensor"
    assert answer.basis == "source"
    assert answer.culprit is not None and answer.culprit.line == 7
    patch = next(fix.patch for fix in answer.causes[0].fixes if fix.patch)
    assert '+        self.register_buffer("kernel", torch.arange(' in patch


def test_what_is_installed_stays_a_library(checkout: Path) -> None:
    trace = TRACE.format(folder="/usr/lib/python3.11/site-packages")
    answer = diagnose(trace, sources=Sources([Folder(str(checkout))]))
    assert [frame.library for frame in answer.report.frames] == [None, "speechbrain"]


def test_without_its_folder_a_checkout_is_a_library(checkout: Path) -> None:
    answer = diagnose(TRACE.format(folder="/home/u/speechbrain"), sources=Sources())
    assert [frame.library for frame in answer.report.frames] == [None, "speechbrain"]
