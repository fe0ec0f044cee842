"""What --fix, --unsafe-fixes and --diff do with files, and what they leave alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from checking.conftest import MASK, TABLE
from checking.test_command import check

from diagnose.checking.checking import Mended, write
from diagnose.checking.model import Repair, Replacement
from diagnose.checking.repairs import applied

FIXED_MASK = MASK.replace("(x.shape[0], 8)", "(x.shape[0], 8, device=x.device)")
FIXED_TABLE = TABLE.replace(
    "self.table = torch.arange(8.0)",
    'self.register_buffer("table", torch.arange(8.0), persistent=False)',
)


def test_fix_makes_the_safe_ones(project: Path) -> None:
    mask = project / "model" / "mask.py"
    mask.chmod(0o640)
    run = check("--fix", ".", cwd=project)
    assert mask.read_text() == FIXED_MASK
    assert mask.stat().st_mode & 0o777 == 0o640
    assert (project / "model" / "table.py").read_text() == TABLE
    assert run.returncode == 1  # the other is left
    assert (
        "1 finding in 1 of 3 files; 1 fixed; 0 fixable with --fix, 1 with --unsafe-fixes;"
        in run.stdout
    )
    assert "fix with --unsafe-fixes; a buffer is cast with its module" in run.stdout
    assert sorted(path.name for path in mask.parent.iterdir()) == ["mask.py", "table.py"]


def test_unsafe_fixes_makes_all(project: Path) -> None:
    run = check("--unsafe-fixes", ".", cwd=project)
    assert (project / "model" / "mask.py").read_text() == FIXED_MASK
    assert (project / "model" / "table.py").read_text() == FIXED_TABLE
    assert run.returncode == 0
    assert "nothing found in 3 files; 2 fixed;" in run.stdout


def test_diff_changes_nothing_and_git_applies_it(project: Path) -> None:
    run = check("--diff", "--unsafe-fixes", ".", cwd=project)
    assert run.returncode == 1
    assert (project / "model" / "mask.py").read_text() == MASK
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(["git", "apply"], cwd=project, check=True, input=run.stdout, text=True)
    assert (project / "model" / "mask.py").read_text() == FIXED_MASK
    assert (project / "model" / "table.py").read_text() == FIXED_TABLE
    assert check("--diff", ".", cwd=project).stdout == ""


@pytest.mark.parametrize(
    "before, after", [("\n", "\r\n"), ("import torch\n", "\ufeffimport torch\n")]
)
def test_line_ends_and_encodings_stay(project: Path, before: str, after: str) -> None:
    path = project / "model" / "mask.py"
    count = -1 if after == "\r\n" else 1
    path.write_bytes(MASK.replace(before, after, count).encode())
    assert check("--fix", "model/mask.py", cwd=project).returncode == 0
    assert path.read_bytes() == FIXED_MASK.replace(before, after, count).encode()


def test_an_encoding_that_a_file_declares_is_kept(project: Path) -> None:
    path = project / "model" / "mask.py"
    path.write_bytes(("# coding: latin-1\n# café\n" + MASK).encode("latin-1"))
    assert check("--fix", "model/mask.py", cwd=project).returncode == 0
    assert path.read_bytes() == ("# coding: latin-1\n# café\n" + FIXED_MASK).encode("latin-1")


def test_a_read_only_file_is_told_and_stays(project: Path) -> None:
    path = project / "model" / "mask.py"
    path.chmod(0o444)
    run = check("--unsafe-fixes", ".", cwd=project)
    assert run.returncode == 2
    assert "model/mask.py cannot be written: it is read-only" in run.stderr
    assert path.read_text() == MASK
    assert (project / "model" / "table.py").read_text() == FIXED_TABLE
    assert "created-without-device" in run.stdout


def test_a_link_stays_one(project: Path) -> None:
    link = project / "link.py"
    link.symlink_to("model/mask.py")
    assert check("--fix", "link.py", cwd=project).returncode == 0
    assert link.readlink() == Path("model/mask.py")
    assert (project / "model" / "mask.py").read_text() == FIXED_MASK


def test_a_file_that_was_changed_meanwhile_is_left(project: Path) -> None:
    path = project / "train.py"
    (problem,) = write([Mended("train.py", "utf-8", "x = 1\n", "x = 2\n")])
    assert problem == "train.py is left as it is: it was changed meanwhile"
    assert "x = 2" not in path.read_text()


def replacing(first: int, removed: int, *lines: str) -> Repair:
    return Repair("a-kind", "safe", (Replacement(first, removed, lines),))


@pytest.mark.parametrize(
    "repairs, text, made",
    [
        ([replacing(1, 1, "a = 9"), replacing(4, 1, "d = 9")], "a = 9\nb = 2\nc = 3\nd = 9\n", 2),
        ([replacing(1, 1, "a = 9"), replacing(1, 1, "a = 8")], "a = 9\nb = 2\nc = 3\nd = 4\n", 1),
        # Together they would be no Python: the second waits.
        ([replacing(1, 1, "a = ("), replacing(4, 1, "d = 9")], "a = 1\nb = 2\nc = 3\nd = 9\n", 1),
        ([replacing(2, 0, "import x"), replacing(2, 0, "import x")], "a = 1\nimport x\nb = 2\nc = 3\nd = 4\n", 1),
        ([], "a = 1\nb = 2\nc = 3\nd = 4\n", 0),
    ],
)  # fmt: skip
def test_repairs_that_go_together_are_made(repairs: list[Repair], text: str, made: int) -> None:
    assert applied("a = 1\nb = 2\nc = 3\nd = 4\n", repairs) == (text, made)


def test_two_repairs_that_need_one_import_add_it_once() -> None:
    needed = Replacement(1, 0, ("import os",))
    one, two = (
        Repair("k", "safe", (needed, Replacement(line, 1, (f"x = {line}",)))) for line in (2, 4)
    )
    assert applied("a\nb\nc\nd\n", [one, two]) == ("import os\na\nx = 2\nc\nx = 4\n", 2)
