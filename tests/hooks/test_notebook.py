"""A real IPython: places as it calls its cells, the extension, the magics, answers that show."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import forked
import pytest

pytest.importorskip("IPython")
pytest.importorskip("torch")

#: Runs cells in IPython's shell, as a kernel does, on simulated GPUs; prints what each showed.
SESSION = """\
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from diagnose.simulation import simulated_gpus
shell = InteractiveShell.instance()
shown = []
with simulated_gpus(1):
    for cell in json.loads(sys.argv[1]):
        with capture_output() as seen:
            result = shell.run_cell(cell, store_history=True)
        form = shell.display_formatter.format(result.result)[0] if result.result is not None else {}
        shown.append([seen.stdout + seen.stderr, form])
print(json.dumps(shown))
"""
NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.scale = torch.ones(4)

    def forward(self, x):
        return self.layer(x) * self.scale

net = Net().cuda()
"""
FAILS = "net(torch.ones(2, 4).cuda())\n"


def session(folder: Path, *cells: str) -> list[tuple[str, dict[str, str]]]:
    done = subprocess.run(
        [forked.python(), "-c", SESSION, json.dumps(cells)],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return [tuple(one) for one in json.loads(done.stdout.splitlines()[-1])]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, dict[str, str]]]:
    return session(
        tmp_path_factory.mktemp("notebook"),
        "%load_ext diagnose",
        NET,
        FAILS,
        "import diagnose\ndiagnose.why()",
        "%diagnose",
        "%%diagnose\n" + FAILS,
        "%unload_ext diagnose",
        FAILS,
        "%env DIAGNOSE_LANG=zh",
        "%reload_ext diagnose",
        FAILS,
        "diagnose.why()",
    )


def test_a_failed_cell_is_answered_with_its_cells_by_their_names(
    shown: list[tuple[str, dict[str, str]]],
) -> None:
    text = shown[2][0]
    assert "Cell In[2], line 11 in forward" in text
    assert "self.scale" in text
    # The edit stands in the cell that defines the class.
    edit = text.partition("\nDo ")[2].partition("Because")[0].split("\n")
    assert edit[0].strip() == "Cell In[2], line 8"
    assert 'self.register_buffer("scale", ' in edit[2]
    assert "ipykernel" not in text and "ipython-input" not in text.partition("Because")[2]


def test_no_command_names_a_file_that_is_not_there(
    shown: list[tuple[str, dict[str, str]]],
) -> None:
    text = shown[2][0]
    assert "Because" in text
    assert "diagnose fix" not in text and "YOUR_SCRIPT" not in text


@pytest.mark.parametrize("cell", [3, 4])
def test_the_last_exception_shows_as_markdown_and_as_text(
    cell: int, shown: list[tuple[str, dict[str, str]]]
) -> None:
    forms = shown[cell][1]
    assert "**Because:**" in forms["text/markdown"]
    assert "Cell In[2]" in forms["text/markdown"]
    assert forms["text/plain"].startswith("RuntimeError  Cell In[2], line 11")


def test_a_recorded_cell_says_where_its_tensors_were_created(
    shown: list[tuple[str, dict[str, str]]],
) -> None:
    assert "Cell In[" in shown[5][0]
    assert "torch.ones(2, 4).cuda()" in shown[5][0]


def test_unloaded_it_answers_no_more(shown: list[tuple[str, dict[str, str]]]) -> None:
    assert "Because" not in shown[7][0]


def test_in_chinese_where_the_environment_asks_for_it(
    shown: list[tuple[str, dict[str, str]]],
) -> None:
    assert "因为" in shown[10][0]
    assert "**因为" in shown[11][1]["text/markdown"]


def test_why_prints_in_a_plain_python(tmp_path: Path) -> None:
    code = (
        "import sys, diagnose\n"
        "try:\n    raise RuntimeError('Expected all tensors to be on the same device, but found at "
        "least two devices, cuda:0 and cpu!')\n"
        "except RuntimeError as error:\n    sys.last_value = error\n"
        "assert diagnose.why() is None\n"
    )
    done = subprocess.run(
        [forked.python(), "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("RuntimeError")


def test_why_without_an_exception_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import diagnose; diagnose.why()"], capture_output=True, text=True
    )
    assert "there was no exception yet" in done.stderr
