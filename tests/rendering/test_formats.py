"""The forms of answers and of scans: one list of each, and every door offers all of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import forked
import pytest

from diagnose.rendering import FORMATS
from diagnose.scanning.formats import FORMATS as SCAN_FORMATS

TRACE = Path(__file__).parents[1] / "traces" / "peft-mistral-offloaded.txt"
#: Adds a form as its author would, by a module and one line, and goes on as the command line.
ADDED = """\
import sys
sys.path.insert(0, {folder!r})
from diagnose.{package} import FORMATS
FORMATS["shout"] = "shout"
from diagnose.cli import main
main(sys.argv[1:])
"""


def diagnose(*args: str, program: str | None = None) -> subprocess.CompletedProcess[str]:
    alone, added = [forked.python(), "-m", "diagnose"], [sys.executable, "-c", str(program)]
    command = [*(alone if program is None else added), *args]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False)


@pytest.mark.parametrize("form", FORMATS)
def test_the_door_without_click_and_the_one_with_it_answer_alike(form: str, tmp_path: Path) -> None:
    straight = diagnose("--format", form, str(TRACE))
    with_click = diagnose(str(TRACE), "--format", form)
    written = tmp_path / "answer"
    diagnose(str(TRACE), f"--format={form}", "--output", str(written))
    assert straight.returncode == with_click.returncode == 0
    assert straight.stdout == with_click.stdout == written.read_text(encoding="utf-8")
    assert straight.stdout.endswith("\n") and straight.stderr == ""


@pytest.mark.parametrize(
    ("args", "formats"), [((), FORMATS), (("--group",), SCAN_FORMATS)], ids=["answer", "scan"]
)
def test_an_unknown_form_is_refused_with_the_ones_there_are(
    args: tuple[str, ...], formats: Mapping[str, str]
) -> None:
    done = diagnose(*args, "--format", "sout", str(TRACE))
    assert done.returncode == 2 and done.stdout == ""
    assert all(form in done.stderr for form in formats)


@pytest.mark.parametrize(
    ("package", "doors"),
    [
        (
            "rendering",
            [("--format", "shout", str(TRACE)), ("answer", str(TRACE), "--format=shout")],
        ),
        ("scanning.formats", [("--group", "--format", "shout", str(TRACE))]),
    ],
    ids=["answer", "scan"],
)
def test_a_module_and_a_line_make_a_form(
    package: str, doors: list[tuple[str, ...]], tmp_path: Path
) -> None:
    (tmp_path / "shout.py").write_text(
        "def render(what, *, columns=80, color=False):\n    return type(what).__name__.upper()\n"
    )
    program = ADDED.format(folder=str(tmp_path), package=package)
    said = [diagnose(*door, program=program) for door in doors]
    assert {one.stdout.strip() for one in said} == {
        "DIAGNOSIS" if package == "rendering" else "GROUPING"
    }
    assert all(one.stderr == "" for one in said)
