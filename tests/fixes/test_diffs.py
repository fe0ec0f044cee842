"""Diffs of recorded failures, applied to the programs that failed by the tools that people use."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from diagnose._toml import loads
from diagnose.casebase.store import Casebase
from diagnose.fixes.diff import edit, patch
from diagnose.fixes.edits import EDITS
from diagnose.fixes.line_gate import Refused, Site
from diagnose.pipeline import diagnose
from diagnose.scene import Scene
from diagnose.sources import Sources

TRACES = Path(__file__).parents[1] / "traces"
RECORDINGS = loads((TRACES / "recordings.toml").read_text(encoding="utf-8"))["trace"]


def diffs(text: str, casebase: Casebase) -> Iterator[tuple[str, str]]:
    """The diffs of an answer and of every kind of edit in the user's frames, each with its file."""
    diagnosis = diagnose(text, casebase=casebase, sources=Sources())
    for cause in diagnosis.causes:
        for fix in cause.fixes:
            if fix.patch is not None and fix.edit is not None:
                yield fix.edit.file, fix.patch
    scene = Scene(diagnosis.report, casebase.knowledge, Sources())
    for frame in diagnosis.report.frames:
        place = scene.place(frame)
        met = scene.meeting_at(place)
        for kind in EDITS if met is not None else ():
            assert met is not None
            with suppress(Refused):
                diff = patch(place, edit(kind, Site(place, met, scene)))
                if diff is not None:
                    yield frame.file, diff


def applies(file: str, diff: str, root: Path) -> None:
    """Applies a diff in a copy of its file's folder, by git and by patch, and parses what comes out."""
    name = Path(file).name
    for number, command in enumerate((["git", "apply", "-"], ["patch", "-p1", "--quiet"])):
        copy = root / f"copy{number}"
        copy.mkdir(parents=True)
        shutil.copy(file, copy)
        before = (copy / name).read_text(encoding="utf-8")
        subprocess.run(command, input=diff, text=True, cwd=copy, check=True, capture_output=True)
        after = (copy / name).read_text(encoding="utf-8")
        assert after != before
        ast.parse(after)
        shutil.rmtree(copy)


def test_diffs_of_recorded_failures_apply(tmp_path: Path, casebase: Casebase) -> None:
    found: set[tuple[str, str]] = set()
    for recording in RECORDINGS:
        program = TRACES / "programs" / recording["program"]
        copy = tmp_path / recording["name"]
        shutil.copytree(program, copy)
        trace = TRACES / "causes" / f"{recording['name']}.txt"
        text = trace.read_text(encoding="utf-8").replace(recording["root"], str(copy))
        found.update(diffs(text, casebase))
    assert len(found) > 20
    for number, (file, diff) in enumerate(sorted(found)):
        applies(file, diff, tmp_path / f"applied{number}")


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_there_is_no_diff_of_a_file_that_is_not_the_one_that_failed(
    damage: str, tmp_path: Path, casebase: Casebase
) -> None:
    path = tmp_path / "net.py"
    text = (
        f'Traceback (most recent call last):\n  File "{path}", line 2, in forward\n    return a + b\n'
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
        "cuda:0 and cpu!\n"
    )
    path.write_text("def forward(a, b):\n    return a + b\n")
    assert list(diffs(text, casebase))
    path.unlink() if damage == "gone" else path.write_text(
        "# new\ndef f(a, b):\n    return a - b\n"
    )
    assert not list(diffs(text, casebase))
