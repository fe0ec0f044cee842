"""How long answers are, and how early they say what to do, over labelled reports.

    python benchmarks/answer_lines.py FOLDER... [--source] [--full]

Prints totals for each folder and no text of any answer. ``--source`` lets the files beside a report be
read.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

from diagnose.casebase.store import load
from diagnose.model import DEVICE_FAMILY, Diagnosis
from diagnose.pipeline import diagnose
from diagnose.rendering import full, text
from diagnose.rendering.words import width
from diagnose.sources import per_report

_COPIED = ("- ", "+ ", "$ ", "http", "diagnose ")


class Measured(NamedTuple):
    """An answer: its lines, that of its first ``Do`` or ``Fix`` (None where it has none), whether it is
    sure, whether that edits the user's own code, and how many lines that nobody copies are too wide."""

    lines: int
    do: int | None
    sure: bool
    own: bool
    wide: int


def measured(diagnosis: Diagnosis, everything: bool) -> Measured:
    """What there is to count in an answer."""
    page = (full if everything else text).render(diagnosis).splitlines()
    told = ("Do ", "   Fix ")
    do = next((n for n, line in enumerate(page, 1) if line.startswith(told)), None)
    first = diagnosis.causes[0].fixes[:1] if diagnosis.causes else ()
    wide = sum(width(line) > 80 and not any(sign in line for sign in _COPIED) for line in page)
    own = any(fix.edit is not None for fix in first)
    return Measured(len(page), do, diagnosis.verdict == "diagnosed", own, wide)


def answers(folder: Path, source: bool) -> list[Diagnosis]:
    """The answers to a folder's reports that are about placement."""
    casebase, sources = load(), per_report((str(folder),) if source else (), off=not source)
    found = (
        diagnose(path.read_bytes(), str(path), casebase=casebase, sources=sources())
        for path in sorted(folder.glob("*.txt"))
    )
    return [
        one
        for one in found
        if one.report.error is not None and one.report.error.family == DEVICE_FAMILY
    ]


def row(name: str, some: list[Measured]) -> str:
    """The totals of some answers."""
    lines = sorted(one.lines for one in some)
    sure = [one for one in some if one.sure]
    dos = [one.do for one in sure if one.do is not None]
    return (
        f"{name:24} {len(some):4} {statistics.median(lines):7.0f} {lines[int(0.9 * len(lines))]:5}"
        f" {lines[-1]:5} {max(dos, default=0):9} {len(sure):6}"
        f" {sum(one.own for one in sure) / len(sure):8.0%} {sum(one.wide for one in some):6}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--source", action="store_true", help="read the files beside the reports")
    parser.add_argument("--full", action="store_true", help="of the full answer")
    given = parser.parse_args()
    print(
        f"{'':24} {'n':>4} {'median':>7} {'90 %':>5} {'most':>5} {'latest do':>9} {'sure':>6}",
        end="",
    )
    print(f" {'own code':>8} {'wide':>6}")
    for folder in given.folders:
        found = answers(folder, given.source)
        print(row(folder.name, [measured(one, given.full) for one in found]))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
