"""Programs as people write them: what is found in those that fail, and nothing in those that are right.

``not_yet.txt`` names the programs in which the line to edit is not found yet, and healthy ones in which
something is; --renew writes it anew, and its diff shows what a change of the analysis gained and lost.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from diagnose.casebase.store import load
from diagnose.checking.checking import check, mend
from diagnose.checking.model import Options, Report

HERE = Path(__file__).parent
FAILING = sorted(HERE.glob("rules/*/*.in.py"))
HEALTHY = sorted(HERE.glob("healthy/*.py"))
NOT_YET = HERE / "not_yet.txt"
_FINDS = re.compile(r"# finds: (\S+)")


def options() -> Options:
    return Options(frozenset(rule.id for rule in load().checks()), likely=True)


def name(path: Path) -> str:
    return path.relative_to(HERE).as_posix()


def wanted(path: Path) -> list[tuple[int, set[str]]]:
    lines = path.read_text().splitlines()
    marks = ((number, _FINDS.search(line)) for number, line in enumerate(lines, 1))
    return [(number, set(mark[1].split("|"))) for number, mark in marks if mark]


def missed(path: Path, report: Report) -> bool:
    """Whether a line to edit was not found; in a healthy program, whether something was."""
    found = {(one.place.line, one.id) for one in report.findings}
    if path in HEALTHY:
        return bool(found)
    return any(not {(line, one) for one in ids} & found for line, ids in wanted(path))


def test_each_rule_has_programs() -> None:
    folders = {path.parent.name for path in FAILING}
    assert folders == {rule.id for rule in load().checks()}
    for path in FAILING:
        assert wanted(path), path
        assert all(path.parent.name in ids for _, ids in wanted(path)), path


def test_findings_stand_at_the_lines_to_edit_and_nowhere_else(
    renew: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE)
    every = [*FAILING, *HEALTHY]
    now = [name(path) for path in every if missed(path, check([name(path)], options()))]
    if renew:
        NOT_YET.write_text("".join(f"{one}\n" for one in now))
    assert set(now) <= set(NOT_YET.read_text().split())


@pytest.mark.parametrize("path", sorted(HERE.glob("rules/*/*.out.py")), ids=name)
def test_the_program_after_all_fixes(
    path: Path, renew: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE)
    before = name(path).replace(".out.py", ".in.py")
    report = check([before], options())
    left, (mended,) = mend(report, [before], options(), unsafe=True)
    if renew:
        path.write_text(mended.after)
    assert mended.after == path.read_text()
    assert left.findings == ()
