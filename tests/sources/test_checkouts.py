"""The source tree of a library is its user's own code where they named the folder, and a library elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.fixes.diff import patched
from diagnose.model import Frame, Report
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


INSTALLED = "/usr/lib/python3.11/site-packages"


@pytest.mark.parametrize("above", ["", "src/", "packages/speech/src/"])
@pytest.mark.parametrize("moved", [0, 3])
def test_a_frame_of_an_installed_package_is_that_of_its_checkout(
    checkout: Path, above: str, moved: int
) -> None:
    package = checkout / above / "speechbrain"
    if above:
        package.parent.mkdir(parents=True)
        (checkout / "speechbrain").rename(package)
    file = package / "processing" / "features.py"
    file.write_text("# a later release\n" * moved + FEATURES)
    answer = diagnose(TRACE.format(folder=INSTALLED), sources=Sources([Folder(str(checkout))]))
    assert [frame.library for frame in answer.report.frames] == [None, None]
    assert answer.culprit is not None
    assert (answer.culprit.file, answer.culprit.line) == (str(file), 7 + moved)
    first = answer.causes[0].fixes[0]
    assert first.edit is not None and first.edit.file == str(file)
    assert patched(file.read_text(), first.patch or "").count("register_buffer") == 1


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("fork/processing/features.py", FEATURES),  # of another package
        ("speechbrain/processing/features.py", FEATURES.replace("conv1d(x,", "conv1d(x.clone(),")),
        ("speechbrain/processing/features.py", FEATURES.replace("def forward", "def call")),
        ("speechbrain/processing/features.py", FEATURES.replace("x, self", "x,  self") + FEATURES),
    ],
)
def test_what_is_installed_stays_a_library_where_no_checkout_has_the_line(
    checkout: Path, where: str, text: str
) -> None:
    (checkout / "speechbrain" / "processing" / "features.py").unlink()
    (checkout / where).parent.mkdir(parents=True, exist_ok=True)
    (checkout / where).write_text("\n" + text)
    answer = diagnose(TRACE.format(folder=INSTALLED), sources=Sources([Folder(str(checkout))]))
    assert [frame.library for frame in answer.report.frames] == [None, "speechbrain"]


def test_torch_stays_a_library_whatever_folder_is_named(tmp_path: Path) -> None:
    text = "def linear(input, weight):\n    return input @ weight\n"
    (tmp_path / "torch" / "nn").mkdir(parents=True)
    (tmp_path / "torch" / "nn" / "functional.py").write_text(text)
    frame = Frame(f"{INSTALLED}/torch/nn/functional.py", 2, "linear", "return input @ weight")
    report = Report("-", frames=(frame._replace(library="torch"),))
    assert Sources([Folder(str(tmp_path))]).claimed(report) == report


def test_without_its_folder_a_checkout_is_a_library(checkout: Path) -> None:
    answer = diagnose(TRACE.format(folder="/home/u/speechbrain"), sources=Sources())
    assert [frame.library for frame in answer.report.frames] == [None, "speechbrain"]
