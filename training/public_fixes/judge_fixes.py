"""What diagnose says of failures of public fixes, beside what their authors did.

    unshare --net python training/public_fixes/judge_fixes.py PAIRS/ [--fix] [--misses]

``PAIRS`` is what `run_fixes.py` wrote. A line is right in the author's statement or next to it. With
``--fix`` each is repaired by `diagnose fix`, too; that runs other people's code.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from run_fixes import PROGRAM  # noqa: E402

SECONDS_TO_FIX = 300
#: Two names of one edit: `device=x.device` is a device of a neighbour, and a device.
_ALIKE = {"use-like-device-of-other": "create-on-device"}
COLUMNS = (
    "text: cause",
    "source: cause",
    "line",
    "first patch there",
    "its kind",
    "repaired",
    "proven",
    "there",
)


class Judged(NamedTuple):
    """A pair, and which of `COLUMNS` hold of it; None where it was not asked."""

    row: dict[str, Any]
    holds: tuple[bool | None, ...]


def main() -> None:
    """Prints a table by cause."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--fix", action="store_true", help="repair them, too")
    parser.add_argument("--misses", action="store_true", help="print what does not hold of which")
    options = parser.parse_args()
    judged = []
    for told in sorted(options.pairs.glob("*/pair.json")):
        one = judge(told.parent, json.loads(told.read_text(encoding="utf-8")), fix=options.fix)
        judged.append(one)
        missed = [name for name, holds in zip(COLUMNS, one.holds, strict=True) if holds is False]
        if options.misses and missed:
            print(told.parent.name, one.row["path"], one.row["line"], "not:", ", ".join(missed))
    print(table(judged))


def judge(folder: Path, row: dict[str, Any], *, fix: bool = False) -> Judged:
    """Asks what the failure of a pair's folder is, from its text and with its files."""
    trace = folder / "trace.txt"
    text = _asked(["--format", "json", "--no-source", str(trace)], folder)
    read = _asked(["--format", "json", "--source", str(folder / "before"), str(trace)], folder)
    patches = [
        one
        for cause in (read.get("causes") or [])[:1]
        for one in cause["fixes"]
        if one["edit"] or one["patch"]
    ]
    first = (patches or [{}])[0]
    culprit = read.get("culprit") or {}
    row = {**row, "lines": _statement(folder / "before" / row["path"], row["line"])}
    repaired = proven = there = None
    if fix:
        home = folder / "before" / row["root"]
        said = _asked(["fix", "--gpus", "1", "--format", "json", PROGRAM], home)
        repaired, proven = said.get("outcome") == "repaired", said.get("level") == "proven"
        there = any(_same(row, one["file"], one["line"]) for one in said.get("edits") or [])
    return Judged(
        row,
        (
            row["cause"] in _first(text) if row["cause"] else None,
            row["cause"] in _first(read) if row["cause"] else None,
            _same(row, culprit.get("file"), culprit.get("line")),
            any(_same(row, *at) for at in _changed(first.get("patch") or "")[:1]),
            _ALIKE.get(first.get("kind"), first.get("kind")) == _ALIKE.get(row["fix"], row["fix"]),
            repaired,
            proven,
            there,
        ),
    )


def _asked(words: list[str], folder: Path) -> dict[str, Any]:
    """The answer of the command line; nothing where it gave none."""
    command = [sys.executable, "-m", "diagnose", *words]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, timeout=SECONDS_TO_FIX, env={**os.environ}
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return {}
    return answer


def _first(answer: dict[str, Any]) -> list[str]:
    return [one["id"] for one in (answer.get("causes") or [])[:1]]


def _same(row: dict[str, Any], file: str | None, line: int | None) -> bool:
    first, last = row["lines"]
    named = Path(file or "").name == Path(row["path"]).name
    return named and line is not None and first <= line <= last


def _statement(file: Path, line: int) -> list[int]:
    """The first and last line of the simple statement that a line is in, with its neighbours."""
    around = [
        (one.lineno, one.end_lineno or one.lineno)
        for one in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(one, ast.stmt) and not hasattr(one, "body")
    ]
    first, last = next(((a, b) for a, b in around if a <= line <= b), (line, line))
    return [first - 1, last + 1]


def _changed(patch: str) -> list[tuple[str, int]]:
    """The files and lines that a patch takes out or adds something at."""
    found, file, at = list[tuple[str, int]](), "", 0
    for line in patch.splitlines():
        if line.startswith("--- "):
            file = line[4:].removeprefix("a/")
        elif line.startswith("@@ -"):
            at = int(line[4:].split(",")[0].split(" ")[0])
        elif line.startswith(("-", "+")) and not line.startswith("+++"):
            found.append((file, at))
            at += line.startswith("-")
        else:
            at += 1
    return found


def table(judged: list[Judged]) -> str:
    """How many of which cause, and of how many each column holds."""
    rows = [f"| cause | pairs | {' | '.join(COLUMNS)} |", f"|---|---|{'---|' * len(COLUMNS)}"]
    causes = [cause for cause, _ in Counter(one.row["cause"] for one in judged).most_common()]
    for cause in [*causes, None]:
        some = [one for one in judged if cause in (None, one.row["cause"])]
        cells = []
        for marks in zip(*(one.holds for one in some), strict=True):
            asked = [mark for mark in marks if mark is not None]
            cells.append(f"{sum(asked)} of {len(asked)}" if asked else "")
        name = "all" if cause is None else cause or "not told"
        rows.append(f"| {name} | {len(some)} | {' | '.join(cells)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
