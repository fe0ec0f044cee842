"""training/public_fixes: a change of a repository becomes a failure that runs, and is judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import forked
import pytest

pytest.importorskip("torch")
ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "training" / "public_fixes"), str(ROOT / "training")]

from calling import Target, targets  # noqa: E402
from generator.labels import is_about_devices  # noqa: E402

BEFORE = """import torch
from torch import nn
import package_that_nobody_has as missing
from shifting.version import __version__


class Shift(missing.Base, nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.layer = nn.Linear(dim, dim)

    def forward(self, x):
        x = self.layer(x)
        return add_steps(x)


def add_steps(x):
    steps = torch.arange(x.shape[1])
    return x + steps


def scale(x, device):
    weight = torch.tensor(2.0)
    return x * weight


def main():
    print(Shift(16))
"""
AFTER = BEFORE.replace("arange(x.shape[1])", "arange(x.shape[1], device=x.device)").replace(
    "tensor(2.0)", "tensor(2.0, device=device)"
)


def committed(folder: Path, text: str) -> str:
    (folder / "shifting" / "models.py").write_text(text, encoding="utf-8")
    git = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@b"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "a change"], check=True)
    sha = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return sha.stdout.strip()


def row(sha: str, **more: Any) -> dict[str, Any]:
    told = {"repository": "an/owner", "commit": f"https://an.example/commit/{sha}"}
    told |= {"path": "shifting/models.py", "cause": "created-without-device"}
    return {**told, "fix": "use-like-device-of-other", **more}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is made of a repository with two changed lines: one fails without its change, one does not."""
    root = tmp_path_factory.mktemp("fixes")
    repository = root / "clones" / "an+owner" / "repo"
    (repository / "shifting").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / "shifting" / "__init__.py").touch()
    committed(repository, BEFORE)
    sha = committed(repository, AFTER)
    rows = [row(sha, line=18, after=18), row(sha, line=23, after=23)]
    (root / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    command = [forked.python(), str(ROOT / "training/public_fixes/run_fixes.py")]
    command += [str(root / "clones"), str(root / "pairs"), "--rows", str(root / "rows.jsonl")]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return root / "pairs"


def test_only_what_is_stood_in_for_has_a_version() -> None:
    program = (
        "import stand_ins, importlib.metadata as m\nstand_ins.stand_in('one_that_nobody_has')\n"
    )
    program += "import one_that_nobody_has.part\nprint(m.version('one-that-nobody-has'))\n"
    program += "m.version('another-that-nobody-has')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT / "training" / "public_fixes",
        capture_output=True,
        text=True,
    )
    assert done.stdout == "1.0.0\n"
    assert "PackageNotFoundError" in done.stderr


def test_what_is_called_runs_the_changed_line() -> None:
    assert targets(BEFORE, 18) == [Target("add_steps", ""), Target("Shift", "forward")]
    assert targets(BEFORE, 13)[0] == Target("Shift", "forward")
    assert Target("main", "") in targets(BEFORE, 13)
    assert targets(BEFORE, 1) == []


@pytest.mark.parametrize(
    ("last", "about"),
    [
        ("TypeError: build() got an unexpected keyword argument 'device'", False),
        ("TypeError: Net.shift() missing 1 required positional argument: 'device'", False),
        ("TypeError: place() got multiple values for argument 'device'", False),
        ("TypeError: to_cuda() takes 1 positional argument but 2 were given", False),
        ("TypeError: can't convert cuda:0 device type tensor to numpy.", True),
        ("RuntimeError: indices should be either on cpu or on the same device", True),
    ],
)
def test_a_call_that_does_not_fit_is_no_device_error(last: str, about: bool) -> None:
    assert is_about_devices(f"Traceback (most recent call last):\n{last}\n") is about


def test_a_change_without_which_a_gpu_refuses_is_a_pair(pairs: Path) -> None:
    became = {one.name[-2:]: (one / "became").read_text() for one in pairs.iterdir()}
    assert became == {"18": "a pair", "23": "runs on a GPU, before as after"}
    (folder,) = (one.parent for one in pairs.glob("*/pair.json"))
    trace = (folder / "trace.txt").read_text()
    assert 'File "/home/user/project/shifting/models.py", line 19, in add_steps' in trace
    assert "found at least two devices" in trace
    assert json.loads((folder / "pair.json").read_text())["printed"].startswith("[")


def test_a_pair_is_judged_by_its_change(pairs: Path) -> None:
    command = [forked.python(), str(ROOT / "training/public_fixes/judge_fixes.py"), str(pairs)]
    done = subprocess.run(
        [*command, "--fix"], check=True, capture_output=True, text=True, timeout=300
    )
    last = done.stdout.strip().split("\n")[-1]
    assert last.startswith("| all | 1 | 1 of 1 | 1 of 1 | 1 of 1 | 1 of 1 |"), done.stdout
    assert last.endswith("| 1 of 1 | 1 of 1 | 1 of 1 |"), done.stdout
