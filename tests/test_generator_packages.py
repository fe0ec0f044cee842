"""training/generator: models are found in an installed package, and bugs planted in it for one run."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomllib

pytest.importorskip("torch")
import torch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "training"))

from generator.libraries import Bug, bugs, mistake_of, planted  # noqa: E402
from generator.model import Field, Piece  # noqa: E402

#: A package of two models: one says where its table is made, the other wants more than a name can tell.
PACKAGE = """
import torch
from torch import nn


class Ordered(nn.Module):
    def __init__(self, dim, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))

    def forward(self, x):
        order = self.ranks(x)
        for layer in self.layers:
            x = layer(x)
        return x + order[:, None]

    def ranks(self, x):
        return torch.arange(len(x), device=x.device)

    def unused(self, x):
        return torch.zeros(3, device=x.device)


class Wanting(nn.Module):
    def __init__(self, ontology):
        super().__init__()
        self.layer = nn.Linear(len(ontology), 2)

    def forward(self, x):
        return self.layer(x)


class _Own(nn.Linear):
    pass
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of the package, which can be imported."""
    (tmp_path / "ordered_nets.py").write_text(PACKAGE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield "ordered_nets"
    sys.modules.pop("ordered_nets", None)


def piece_of(package: str) -> Piece:
    fields = (Field("x", "torch.randn($n, 8)"),)
    imports = (f"from {package} import Ordered",)
    return Piece(package, "Ordered", "Ordered", imports, "Ordered(8)", fields, "$body(x)")


def only_bug(package: str) -> Bug:
    (bug,) = bugs(piece_of(package))
    return bug


def test_models_that_run_are_listed(package: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "training/generator/find.py"), package, "no_such_nets"]
    paths = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH", ""))))
    ran = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths}
    )
    ((module, rows),) = tomllib.loads(ran.stdout).items()
    assert module == package
    (row,) = rows
    assert row["name"] == "Ordered"
    assert "dim=" in row["given"]
    assert list(row["fields"]) == ["x"]
    assert "no_such_nets: ModuleNotFoundError" in ran.stderr


def test_a_bug_is_a_device_that_a_line_which_runs_no_longer_says(package: str) -> None:
    bug = only_bug(package)
    assert bug.before == "return torch.arange(len(x), device=x.device)"
    assert bug.after == "return torch.arange(len(x))"
    assert bug.function.__name__ == "ranks"
    assert PACKAGE.split("\n")[bug.line - 1].strip() == bug.before


def test_a_planted_bug_runs_is_shown_and_goes(package: str) -> None:
    bug = only_bug(package)
    model = sys.modules[package].Ordered(8)
    rows = torch.randn(3, 8, device="meta")
    moved = model.to("meta")
    assert moved(rows).device.type == "meta"
    with planted(bug):
        assert moved.ranks(rows).device.type == "cpu"
        with pytest.raises(TypeError, match="len") as caught:
            moved.ranks(None)
        assert bug.after in "".join(traceback.format_exception(caught.value))
    assert moved.ranks(rows).device.type == "meta"


def test_the_label_names_the_line_of_the_library(package: str) -> None:
    mistake = mistake_of(only_bug(package), "print()")
    assert (mistake.cause, mistake.text) == ("library-version-bug", "print()")
    assert mistake.file.endswith("ordered_nets.py")
    assert mistake.before.replace(", device=x.device", "") == mistake.after
