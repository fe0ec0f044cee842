"""How many labelled programs ``diagnose fix`` repairs, and how well.

    python benchmarks/fixing.py FOLDER [--warm torch,transformers] [--every K --from I] [-v] [--keep FILE]
                                       [--alternatives]

FOLDER holds NAME.py, which fails, NAME.fixed.py, which does not, and NAME.json with its label
(docs/evaluating.md). A program counts where it fails here and the fixed one does not. A repair is *right*
where one of its edits is in a labelled line (``also_lines`` are) or of an accepted kind, and the program
prints what the fixed one prints, but for lines in which that differs from itself. --keep writes one JSON
object a program, with the diff, for those who read them.

With --incidents FOLDER is kb/cases: each incident's ``reproduce.py failing`` is repaired, and its program
prints what ``reproduce.py fixed`` prints or not.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import forked
import tomllib

from diagnose.preload import warm
from diagnose.repair.comparison import difference, differing
from diagnose.repair.model import Limits, Program, Repair, Terms
from diagnose.repair.runs.runner import Runner
from diagnose.repair.search import Search
from diagnose.repair.words import told
from diagnose.repair.workspace import Workspace

LIMIT = 60
#: Incidents are of machines with so many GPUs.
_GPUS = 4


class Judged(NamedTuple):
    """A program, what became of it, and how that compares with its label."""

    name: str
    cause: str
    outcome: str
    level: str
    at_line: bool
    accepted: bool
    same_output: bool
    tries: int
    seconds: float
    plain: float
    repair: Repair

    @property
    def right(self) -> bool:
        """Mended as the label says, or as it accepts, with the fixed program's output."""
        return self.same_output and (self.at_line or self.accepted)


def main() -> None:
    parser = forked.parser(__doc__)
    parser.add_argument("--incidents", action="store_true", help="FOLDER is kb/cases")
    parser.add_argument("--keep", type=Path, help="write what was made of each program here")
    parser.add_argument(
        "--alternatives", action="store_true", help="look for shorter and better, too"
    )
    args = parser.parse_args()
    forked.warm(args.warm)
    warm(Path(__file__))
    found = []
    pattern = "*/reproduce.py" if args.incidents else "*.json"
    for path in sorted(args.folder.glob(pattern))[args.first :: args.every]:
        if args.only not in str(path):
            continue
        one = (incident if args.incidents else judged)(path, args.alternatives)
        if one is None:
            continue
        found.append(one)
        if args.verbose and not (one.right and one.level == "proven"):
            print(_told(one))
        if args.keep:
            with args.keep.open("a") as stream:
                stream.write(json.dumps(_kept(one)) + "\n")
        sys.stdout.flush()
    print(_table(found))


def judged(path: Path, alternatives: bool) -> Judged | None:
    """What ``fix`` makes of a program; None where it does not count."""
    label = json.loads(path.read_text())
    how = label.get("run") or {}
    program, fixed = path.with_suffix(".py"), path.with_suffix(".fixed.py")
    if not (program.exists() and fixed.exists()):
        return None
    warm(program)  # as the command does
    environment = {key: str(value) for key, value in (how.get("env") or {}).items()}
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        with tempfile.TemporaryDirectory() as origin, tempfile.TemporaryDirectory() as home:
            forked.link_data(path.parent, origin)
            shutil.copy(program, origin)
            folder = Path(origin).resolve()
            start = Program(folder, folder, program.name, tuple(map(str, how.get("args") or [])))
            runner = Runner(start, Workspace(folder, Path(home)), LIMIT)
            gpus = how.get("gpus", 2)
            wanted = runner.run({program.name: fixed.read_text()}, Terms(gpus))
            if not wanted.passed:
                return None
            runner.count = 0
            began = time.monotonic()
            repair = Search(runner, gpus, Limits(), alternatives=alternatives).repair()
            took = time.monotonic() - began
            if repair.outcome == "nothing-to-fix":
                return None
            if repair.outcome == "not-reproducible" and not _as_labelled(repair, label):
                return None
            got = runner.run(repair.texts, Terms(gpus)) if repair.proof else None
            again = runner.run({program.name: fixed.read_text()}, Terms(gpus))
            varying = set(differing(wanted.output, again.output))
            return Judged(
                path.stem,
                label["cause"],
                repair.outcome,
                repair.proof.level if repair.proof else "-",
                any(_at_line(repair, line) for line in _lines(label)),
                bool({one.kind for one in repair.applied} & set(label.get("fix_kinds") or [])),
                got is not None and difference(wanted.output, got.output, varying) is None,
                repair.tries,
                took,
                repair.first.seconds,
                repair,
            )
    finally:
        os.environ.clear()
        os.environ.update(before)


def incident(path: Path, alternatives: bool) -> Judged | None:
    """What ``fix`` makes of an incident; None where it does not fail and pass here as it should."""
    about = tomllib.loads(path.with_name("case.toml").read_text())
    with tempfile.TemporaryDirectory() as origin, tempfile.TemporaryDirectory() as home:
        shutil.copy(path, origin)
        folder = Path(origin).resolve()
        workspace = Workspace(folder, Path(home))
        good = Program(folder, folder, path.name, ("fixed",))
        wanted = Runner(good, workspace, LIMIT).run({}, Terms(_GPUS))
        if not wanted.passed:
            return None
        runner = Runner(good._replace(args=("failing",)), workspace, LIMIT)
        repair = Search(runner, _GPUS, Limits(), alternatives=alternatives).repair()
        if repair.outcome in ("nothing-to-fix", "not-reproducible"):
            return None
        got = runner.run(repair.texts, Terms(_GPUS)) if repair.proof else None
        kinds = set(about.get("fixes", []))
        return Judged(
            path.parent.name,
            about["cause"],
            repair.outcome,
            repair.proof.level if repair.proof else "-",
            False,
            bool({one.kind for one in repair.applied} & kinds),
            got is not None and got.output == wanted.output.replace("fixed", "failing"),
            repair.tries,
            repair.seconds,
            repair.first.seconds,
            repair,
        )


def _as_labelled(repair: Repair, label: dict[str, Any]) -> bool:
    """Whether a program fails as its label says, and not because a package is missing."""
    error = repair.first.failure.error if repair.first.failure else ""
    return error.startswith(str(label.get("exception")))


def _lines(label: dict[str, Any]) -> list[int]:
    """The lines of a label that a fix may be in: the culprit's, and those that are right as well."""
    line = (label.get("culprit") or {}).get("line")
    return [*([line] if line else []), *label.get("also_lines", ())]


def _at_line(repair: Repair, line: int) -> bool:
    """Whether a repair takes away, or adds beside, the labelled line of the program as it was."""
    at = 0
    for row in repair.diff.splitlines():
        if found := re.match(r"@@ -(\d+)", row):
            at = int(found[1])
        elif row[:1] == "-" and not row.startswith("---"):
            if at == line:
                return True
            at += 1
        elif row[:1] == "+" and not row.startswith("+++"):
            if line in (at, at - 1):
                return True
        elif row[:1] == " ":
            at += 1
    return False


def _told(one: Judged) -> str:
    rows = [row for row in one.repair.diff.splitlines() if row[:1] in "+-"][2:]
    proof = one.repair.proof
    against = [told("en", g.sentence) for g in proof.guards if not g.holds] if proof else []
    left = one.repair.left.failure if one.repair.left else None
    head = (
        f"== {one.name}: {one.cause}: {one.outcome} {one.level}"
        f"{' at the line' if one.at_line else ''}{' accepted' if one.accepted else ''}"
        f"{' same output' if one.same_output else ''} in {one.tries} runs {against}"
    )
    return "\n".join([head, *(f"   {row}" for row in rows), *([f"   left {left}"] if left else [])])


def _kept(one: Judged) -> dict[str, Any]:
    proof = one.repair.proof
    return {
        "name": one.name,
        "cause": one.cause,
        "outcome": one.outcome,
        "level": one.level,
        "right": one.right,
        "at_line": one.at_line,
        "accepted": one.accepted,
        "same_output": one.same_output,
        "guards": [[g.id, g.holds, told("en", g.sentence)] for g in proof.guards] if proof else [],
        "diff": one.repair.diff,
        "edits": [
            [edit.cause, edit.kind, edit.source, edit.line, edit.agrees]
            for edit in one.repair.applied
        ],
        "runs": one.tries,
        "seconds": round(one.seconds, 1),
    }


def _table(found: list[Judged]) -> str:
    count = len(found) or 1
    proven = [one for one in found if one.level == "proven"]
    repaired = [one for one in found if one.outcome == "repaired"]
    rows: dict[str, Any] = {
        "programs that count": len(found),
        "repaired": _of(len(repaired), count),
        "... proven": _of(len(proven), count),
        "proven and right": _of(sum(one.right for one in proven), count),
        "proven, not the fixed program's output": sum(not one.same_output for one in proven),
        "proven, neither the line nor an accepted kind": sum(
            not (one.at_line or one.accepted) for one in proven
        ),
        "repaired and right": _of(sum(one.right for one in repaired), count),
        "median runs": statistics.median([one.tries for one in found] or [0]),
        "median seconds to a proven patch": round(
            statistics.median([one.seconds for one in proven] or [0]), 2
        ),
        "median seconds of the plain run": round(
            statistics.median([one.plain for one in proven] or [0]), 2
        ),
    }
    lines = ["", "| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows.items())]
    causes = Counter(one.cause for one in found)
    lines += [
        "",
        "| cause | programs | repaired | proven | proven and right |",
        "|---|---|---|---|---|",
    ]
    for cause, number in causes.most_common():
        of = [one for one in found if one.cause == cause]
        lines.append(
            f"| {cause} | {number} | {sum(one.outcome == 'repaired' for one in of)} | "
            f"{sum(one.level == 'proven' for one in of)} | "
            f"{sum(one.level == 'proven' and one.right for one in of)} |"
        )
    return "\n".join(lines)


def _of(number: int, count: int) -> str:
    return f"{number} ({number / count:.3f})"


if __name__ == "__main__":
    main()
