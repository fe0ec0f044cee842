"""Holds the answers against pairs that make.py made: a table by cause.

    python training/generator/measure.py OUT [--fix N] [--misses]

Of the text alone (``--no-source``): the first cause is an accepted one, it is among the first three, one
of its first three fixes is of an accepted kind. With the programs read: the first cause, and an edit of its
fixes in the labelled line or another that the label accepts. Of ``diagnose check``: something sure is
found, of an accepted cause or in an accepted line, and findings in the mended half. Of ``diagnose fix``,
on N pairs of which no two share a host: repaired, proven, proven and right (benchmarks/fixing.py).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import check_recall

from diagnose.casebase.store import load
from diagnose.model import Diagnosis
from diagnose.pipeline import diagnose
from diagnose.sources import Folder, Sources

COLUMNS = (
    "pairs", "text: first", "first three", "fix", "source: first", "edit at the line", "check: found",
    "mended with findings", "fix: pairs", "repaired", "proven", "proven and right",
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fix", type=int, default=0, help="so many pairs are repaired, too")
    parser.add_argument("--by", default="cause", help="cause, or package, style, operator, form")
    parser.add_argument("--misses", action="store_true", help="tell each miss")
    options = parser.parse_args(argv)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    labels = sorted(options.folder.glob("*.json"))
    repaired = sample(labels, options.fix)
    for path in labels:
        wanted = json.loads(path.read_text(encoding="utf-8"))
        marks = set(_marks(path, wanted))
        if path in repaired:
            marks |= set(_repair(path))
        row = wanted["cause"] if options.by == "cause" else wanted["host"][options.by]
        counts[row].update(marks)
        if options.misses and (missed := set(COLUMNS[:7]) - marks):
            print(f"{path.stem}: {', '.join(one for one in COLUMNS if one in missed)}")
    print(table(counts, options.by))
    return 0


def sample(labels: Sequence[Path], number: int) -> set[Path]:
    """Pairs of different hosts, the causes in turn, in an order drawn with a fixed seed."""
    shuffled = list(labels)
    Random(14).shuffle(shuffled)
    told = {path: json.loads(path.read_text(encoding="utf-8")) for path in shuffled}
    taken: list[Path] = []
    hosts = set[str]()
    while len(taken) < min(number, len(shuffled)):
        before, causes = len(taken), set[str]()
        for path in shuffled:
            cause, host = told[path]["cause"], told[path]["host"]["name"]
            if len(taken) < number and cause not in causes and host not in hosts:
                taken.append(path)
                causes.add(cause)
                hosts.add(host)
        if len(taken) == before:
            break
    return set(taken)


def _marks(path: Path, label: dict[str, Any]) -> Iterator[str]:
    """The columns that a pair counts in, but for repairs."""
    accepted = {label["cause"], *label["also_ok"]}
    log = path.with_suffix(".txt").read_bytes()
    yield "pairs"
    text = diagnose(log, path.name, casebase=load(), sources=None)
    named = [one.id for one in text.causes[:3]]
    if named and named[0] in accepted:
        yield "text: first"
    if accepted & set(named):
        yield "first three"
    if named and {fix.kind for fix in text.causes[0].fixes[:3]} & set(label["fix_kinds"]):
        yield "fix"
    beside = Sources([Folder(str(path.parent))], read=None)
    read = diagnose(log, path.name, casebase=load(), sources=beside)
    if read.causes and read.causes[0].id in accepted:
        yield "source: first"
    if _at_line(read, label):
        yield "edit at the line"
    sure = [
        one
        for one in check_recall.findings(path.with_suffix(".py"))
        if check_recall.is_default(one)
    ]
    if "found" in check_recall.marks(sure, label):
        yield "check: found"
    if any(map(check_recall.is_default, check_recall.findings(path.with_suffix(".fixed.py")))):
        yield "mended with findings"


def _at_line(read: Diagnosis, label: dict[str, Any]) -> bool:
    """Whether an edit of the first cause's first three fixes is where the label accepts it."""
    lines = {label["culprit"]["line"], *label["also_lines"]}
    edits = [fix.edit for fix in (read.causes[0].fixes[:3] if read.causes else ())]
    return any(
        edit is not None
        and Path(edit.file).name == label["culprit"]["file"]
        and lines & set(range(edit.line, edit.line + edit.before.count("\n") + 1))
        for edit in edits
    )


def _repair(path: Path) -> Iterator[str]:
    """The columns of ``diagnose fix``."""
    import fixing

    judged = fixing.judged(path)
    if judged is None:
        return
    yield "fix: pairs"
    if judged.outcome == "repaired":
        yield "repaired"
    if judged.level == "proven":
        yield "proven"
        if judged.right:
            yield "proven and right"


def table(counts: dict[str, Counter[str]], by: str) -> str:
    """The counts as a Markdown table, the most frequent rows first."""
    rows = sorted(counts.items(), key=lambda item: -item[1]["pairs"])
    total = sum(counts.values(), Counter[str]())
    lines = [f"| {by} | {' | '.join(COLUMNS)} |", "|---|" + "---|" * len(COLUMNS)]
    lines += [
        f"| {name} | {' | '.join(str(count[one]) for one in COLUMNS)} |"
        for name, count in [*rows, ("**all**", total)]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
