"""Recall of `diagnose check` on labelled failing programs, and false alarms on their mended twins.

    python benchmarks/check_recall.py FOLDER... [--half read|unread|all] [--misses]

A folder holds NAME.py (fails when it meets a GPU), NAME.fixed.py and NAME.json (`cause`, `also_ok`,
`culprit.line`, `also_lines`). Halves are every second of the sorted labels, the first of them `read`. Of a
program counts whether anything is found, of an accepted cause, in the labelled line, in that or another
accepted line, and whether it is found at all: of an accepted cause or in an accepted line. Figures of the
default rules; with ``--preview``'s in parentheses. ``--misses`` prints what is not found of the read half.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from diagnose.casebase.store import load
from diagnose.checking.judging import judge
from diagnose.checking.model import Finding, Options

COLUMNS = ("any finding", "cause", "line", "accepted line", "found")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--half", choices=("read", "unread", "all"), default="all")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args(argv)
    if options.misses and options.half != "read":
        parser.error("only the misses of the read half are shown")
    print(f"| | mended | with findings | failing | {' | '.join(COLUMNS)} |")
    print("|---|---|---|---|" + "---|" * len(COLUMNS))
    for folder in options.folders:
        print(row(folder, options.half, misses=options.misses), flush=True)
    return 0


def row(folder: Path, half: str, *, misses: bool) -> str:
    """The figures of a folder, as a row of a table."""
    counts, preview = Counter[str](), Counter[str]()
    mended = 0
    labels = list(chosen(sorted(folder.glob("*.json")), half))
    for label in labels:
        wanted = json.loads(label.read_text(encoding="utf-8"))
        likely = findings(label.with_suffix(".py"))
        sure = [one for one in likely if is_default(one)]
        preview.update(marks(likely, wanted))
        counts.update(found := marks(sure, wanted))
        if misses and "found" not in found:
            got = [(one.id, one.place.line, one.sure) for one in likely]
            print(label.stem, wanted["cause"], *lines(wanted), got)
        twin = label.with_suffix(".fixed.py")
        if twin.exists():
            mended += 1
            likely = findings(twin)
            preview["false"] += bool(likely)
            alarms = [one for one in likely if is_default(one)]
            counts["false"] += bool(alarms)
            if misses and alarms:
                print("FALSE", twin.name, [(one.id, one.place.line) for one in alarms])
    cells = [f"{counts[one]} ({preview[one]})" for one in ("false", *COLUMNS)]
    return f"| {folder.name} | {mended} | {cells[0]} | {len(labels)} | {' | '.join(cells[1:])} |"


def chosen(labels: Sequence[Path], half: str) -> Iterable[Path]:
    if half == "all":
        return labels
    return labels[0 if half == "read" else 1 :: 2]


def findings(path: Path) -> Sequence[Finding]:
    """What is found in a file with ``--preview``."""
    every = frozenset(rule.id for rule in load().checks())
    return judge(str(path), Options(every, likely=True)).findings


def is_default(finding: Finding) -> bool:
    preview = {rule.id for rule in load().checks() if rule.preview}
    return finding.sure and finding.id not in preview


def lines(label: dict[str, object]) -> set[object]:
    """The lines that may be edited."""
    culprit, also = label.get("culprit"), label.get("also_lines")
    labelled = culprit.get("line") if isinstance(culprit, dict) else None
    return {labelled, *(also if isinstance(also, list) else ())} - {None}


def marks(found: Iterable[Finding], label: dict[str, object]) -> set[str]:
    """The columns that a program counts in."""
    return set(_marks(found, label))


def _marks(found: Iterable[Finding], label: dict[str, object]) -> Iterator[str]:
    also = label.get("also_ok")
    causes = {label["cause"], *(also if isinstance(also, list) else ())}
    culprit = label.get("culprit")
    labelled = culprit.get("line") if isinstance(culprit, dict) else None
    for one in found:
        yield "any finding"
        if one.id in causes:
            yield from ("cause", "found")
        if one.place.line == labelled:
            yield "line"
        if one.place.line in lines(label):
            yield from ("accepted line", "found")


if __name__ == "__main__":
    raise SystemExit(main())
