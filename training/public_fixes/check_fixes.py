"""What `diagnose check` says of real mistakes: of files as they were before a public fix of placement, and
after it. The files stay out of the repository; the rows say where they are.

    python training/public_fixes/check_fixes.py COMMITS/ [--most 300] [--misses] [--beside CLONES/]

Each file is read alone: the callers of its functions, and what it imports, are not there. With ``--beside``
the repository's other files are, as they were, and those that import it are checked, too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from archives import extracted  # noqa: E402
from learn_fixes import ROWS  # noqa: E402

from diagnose.casebase.store import load  # noqa: E402
from diagnose.checking.analysis import checked  # noqa: E402
from diagnose.checking.reading import UnreadableError, parsed  # noqa: E402
from diagnose.checking.timing import TooLong, limited  # noqa: E402
from diagnose.placement import Checked  # noqa: E402

SECONDS = 10.0
SEED = 0
#: Files that import the changed one are checked with it, so many at most, the shortest first.
CALLERS = 8


class Outcome(NamedTuple):
    """A row, whether its files could be read, and what was found before and gone after: in its line, in its
    function, of its cause, surely; and whether something is found after in the changed line."""

    row: dict[str, Any]
    read: bool
    at_line: bool = False
    in_function: bool = False
    right_cause: bool = False
    sure: bool = False
    after: bool = False


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("commits", type=Path)
    parser.add_argument("--rows", type=Path, default=ROWS)
    parser.add_argument("--most", type=int, default=300, help="so many pairs (%(default)s)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--beside", type=Path, help="CLONES/: owner+name/repo, a git directory each"
    )
    parser.add_argument("--misses", action="store_true", help="print the address of each miss")
    options = parser.parse_args()
    lines = options.rows.read_text(encoding="utf-8").splitlines()
    chosen = _chosen([json.loads(line) for line in lines], options.most)
    by = defaultdict[str, list[dict[str, Any]]](list)
    for row in chosen:
        by[row["repository"]].append(row)
    tasks = [
        (options.commits / f"{name.replace('/', '+')}.jsonl.gz", some) for name, some in by.items()
    ]
    work = partial(_of_repository, beside=options.beside)
    with Pool(options.jobs, initializer=load) as pool:
        outcomes = [one for some in pool.imap_unordered(work, tasks) for one in some]
    print(table(outcomes))
    if options.misses:
        for one in outcomes:
            if one.read and not one.in_function:
                row = one.row
                print(
                    row["cause"],
                    row["place"],
                    row["expression"],
                    row["commit"],
                    row["path"],
                    row["line"],
                )


def _chosen(rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Rows of a known cause, first one of each repository, then a second of each ..."""
    shuffled = [row for row in rows if row["cause"] and row["alone"]]
    random.Random(SEED).shuffle(shuffled)
    turn = Counter[str]()
    ordered = []
    for row in shuffled:
        turn[row["group"]] += 1
        ordered.append((turn[row["group"]], row))
    ordered.sort(key=lambda one: one[0])
    return [row for _, row in ordered[:most]]


def _of_repository(
    task: tuple[Path, list[dict[str, Any]]], beside: Path | None = None
) -> list[Outcome]:
    warnings.simplefilter("ignore")
    file, rows = task
    wanted = {row["commit"].rpartition("/")[2] for row in rows}
    found = dict[str, dict[str, Any]]()
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            commit = json.loads(line)
            if commit["sha"] in wanted:
                found[commit["sha"]] = commit
    clone = next(beside.glob(f"{file.name.removesuffix('.jsonl.gz')}/*"), None) if beside else None
    return [_judged(row, found[row["commit"].rpartition("/")[2]], clone) for row in rows]


def _judged(row: dict[str, Any], commit: dict[str, Any], clone: Path | None) -> Outcome:
    [file] = [one for one in commit["files"] if one["path"] == row["path"]]
    if clone is None:
        before, after = (_said(file[which], row["path"]) for which in ("before", "after"))
    else:
        trees = (f"{commit['sha']}^", commit["sha"])
        before, after = (_within(clone, tree, row["path"]) for tree in trees)
    if before is None or after is None:
        return Outcome(row, read=False)
    left = Counter((s.cause, s.name, s.spot.function) for s in after.suspects)
    gone = []
    for one in before.suspects:
        key = one.cause, one.name, one.spot.function
        if left[key]:
            left[key] -= 1
        else:
            gone.append(one)
    there = [
        s
        for s in gone
        if row["function"] == _function(s.spot.function) or _near(s.spot.line, row["line"])
    ]
    there += [s for s in gone if s not in there and s.meets and _near(s.meets.line, row["line"])]
    still = any(_near(s.spot.line, row["after"]) for s in after.suspects if s.sure)
    return Outcome(
        row,
        True,
        any(
            _near(s.spot.line, row["line"]) or (s.meets and _near(s.meets.line, row["line"]))
            for s in there
        ),
        bool(there),
        any(s.cause == row["cause"] for s in there),
        any(s.sure for s in there),
        still,
    )


def _function(name: str | None) -> str:
    return (name or "").rpartition(".")[2]


def _near(line: int, changed: int) -> bool:
    return abs(line - changed) <= 1


def _said(text: str, path: str) -> Checked | None:
    try:
        with limited(SECONDS):
            return checked(parsed(f"/nowhere/{path}", text), load().knowledge.torch, {})
    except (UnreadableError, TooLong, RecursionError):
        return None


def _within(clone: Path, tree: str, path: str) -> Checked | None:
    """What is said of a file of a repository when it, and the files that import it, are checked."""
    torch = load().knowledge.torch
    with tempfile.TemporaryDirectory() as folder:
        if not extracted(clone, tree, Path(folder)):
            return None
        whole = Path(folder, path)
        found, judged, unknown = {}, 0, 0
        for entry in [whole, *_callers(Path(folder), whole)]:
            try:
                with limited(SECONDS):
                    said = checked(parsed(str(entry), entry.read_text(encoding="utf-8")), torch, {})
            except (UnreadableError, TooLong, RecursionError, ValueError):
                if entry == whole:
                    return None
                continue
            judged, unknown = judged + said.judged, unknown + said.unknown
            for one in said.suspects:
                if one.spot.file == str(whole):
                    found.setdefault((one.cause, one.name, one.spot.file, one.spot.line), one)
        return Checked(tuple(found.values()), judged, unknown)


def _callers(root: Path, whole: Path) -> list[Path]:
    """The files that import one."""
    stem = whole.parent.name if whole.stem == "__init__" else whole.stem
    imports = re.compile(rf"^\s*(from|import)\b.*\b{re.escape(stem)}\b", re.MULTILINE)
    texts = ((one, one.read_text(encoding="utf-8", errors="replace")) for one in root.rglob("*.py"))
    some = [(len(text), one) for one, text in texts if one != whole and imports.search(text)]
    return [one for _, one in sorted(some)[:CALLERS]]


def table(outcomes: Sequence[Outcome]) -> str:
    """By cause: pairs, found in the changed function and gone after, at the line, with the cause, surely;
    and findings that remain at the changed line."""
    lines = ["| cause | pairs | at the line | in the function | right cause | sure | left after |"]
    lines.append("|---|---|---|---|---|---|---|")
    whole = [one for one in outcomes if one.read]
    for cause, some in [*_by_cause(whole), ("all", whole)]:
        marks = zip(*(one[2:] for one in some), strict=True)
        lines.append(
            f"| {cause} | {len(some)} | " + " | ".join(str(sum(mark)) for mark in marks) + " |"
        )
    lines.append(
        f"{len(outcomes) - len(whole)} not read; {len({o.row['repository'] for o in whole})} repositories"
    )
    return "\n".join(lines)


def _by_cause(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    causes = Counter(one.row["cause"] for one in outcomes)
    for cause, _ in causes.most_common():
        yield cause, [one for one in outcomes if one.row["cause"] == cause]


if __name__ == "__main__":
    main()
