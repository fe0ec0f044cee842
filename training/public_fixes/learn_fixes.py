"""Which fix people choose for what is on the wrong device, and where they put it: reads it off the commits
that `walk_commits.py` has kept.

    python training/public_fixes/learn_fixes.py COMMITS/     # writes rows.jsonl: facts, no code, no prose
    python training/public_fixes/learn_fixes.py --table      # what the rows tell

A commit counts where nothing but placement was changed in its files, or where its message speaks of a fix
of devices. Repositories that share commits are one group; `part` keeps groups apart for learning and
measuring.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from multiprocessing import Pool
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from changes import read  # noqa: E402
from fix_kinds import Edit  # noqa: E402
from walk_commits import PLACES, SPEAKS  # noqa: E402

from diagnose._toml import loads  # noqa: E402

ROWS = HERE / "rows.jsonl"
KB = HERE.parents[1] / "kb"
#: So many edits of one kind and place are kept of a function in a commit: more are the same decision.
SAME = 1
#: A change of types of elements is written with the same calls.
_OF_TYPES = re.compile(
    r"\bamp\b|fp16|bf16|fp32|half|dtype|data type|precision|float16|\bcast", re.IGNORECASE
)
#: Reasons to move what was not astray: memory, speed, another accelerator, an earlier commit, a feature.
_OTHER_REASONS = re.compile(
    r"memory(?! access)|\boom\b|\bv?ram\b|low-?vram|offload|\bfaster\b|speed[- ]?up|\bslow|performance"
    r"|efficien"
    r"|\bsupport\w*\b[^\n]{0,40}\b(?:npus?|ascend|mlu|xpu|intel|hpu|gaudi|musa|habana|tpus?)\b",
    re.IGNORECASE,
)
_OTHER_SUBJECTS = re.compile(
    r"^\W*(?:revert|feat\b|feature\b|docs?\b|refactor|mov(?:e|ed|ing)\b.*\b(?:to|on) (?:the )?(?:gpu|cuda)"
    r"|(?:perform|run|compute)\b.*\bon (?:the )?(?:gpu|cuda)|.*\b(?:perform computations) on)",
    re.IGNORECASE,
)
#: Messages that say outright that something was on the wrong device.
_SAYS_SO = re.compile(
    r"same device|mismatch\w* devices?|devices? mis-?match|expected all tensors|wrong device"
    r"|different devices|device (?:error|bug|issue|fix)|fix\w*(?: the)? devices?\b"
    r"|(?:right|correct|proper) device|cpu and (?:cuda|gpu)|cuda and cpu",
    re.IGNORECASE,
)
#: Others have devices and `.to(...)` too.
_OTHER_LIBRARIES = re.compile(r"\b(?:jax|mxnet|paddle|mindspore|tensorflow)\b")
#: An order of statements has many reasons: it counts where the message speaks of devices.
_ORDER = frozenset({"reorder-move-after-build", "rebuild-optimizer"})
#: The reason stands at the beginning; what follows may tell of the whole release.
_BEGINNING = 300
#: Every third group is for measuring.
PARTS = 3


def main() -> None:
    """Writes the rows, or prints what they tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("commits", nargs="?", type=Path, help="what walk_commits.py wrote")
    parser.add_argument("--rows", type=Path, default=ROWS, metavar="FILE")
    parser.add_argument("--table", action="store_true", help="print what the rows tell")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.commits is not None:
        files = sorted(options.commits.glob("*.jsonl.gz"))
        with Pool(options.jobs) as pool:
            found = [row for some in pool.imap(rows, files) for row in some]
        kept = list(_grouped(found))
        text = "".join(f"{json.dumps(row)}\n" for row in kept)
        options.rows.write_text(text, encoding="utf-8")
        print(f"{len(kept)} rows of {len({row['repository'] for row in kept})} repositories")
    if options.table:
        lines = options.rows.read_text(encoding="utf-8").splitlines()
        print(table([json.loads(line) for line in lines]))


def rows(file: Path) -> list[dict[str, Any]]:
    """The rows of a repository's commits."""
    warnings.simplefilter("ignore")  # of other people's escapes
    repository = file.name.removesuffix(".jsonl.gz").replace("+", "/")
    found = []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            found += of_commit(json.loads(line), repository)
    return found


def of_commit(commit: dict[str, Any], repository: str) -> Iterator[dict[str, Any]]:
    """The rows of a commit as `walk_commits.py` keeps it."""
    message = commit["message"]
    if _of_something_else(message):
        return
    if not SPEAKS.search(message) and not _promises(commit):
        return
    edits, others, same = list[tuple[str, str, Edit]](), 0, Counter[tuple[str, ...]]()
    for file in commit["files"]:
        if "torch" not in file["before"] and _OTHER_LIBRARIES.search(file["before"]):
            continue
        try:
            found = read(file["before"], file["after"], file["hunks"])
        except (SyntaxError, ValueError, RecursionError):
            others += 1
            continue
        others += found.others
        lines = file["before"].split("\n"), file["after"].split("\n")
        edits += [(file["path"], _print(*lines, one), one) for one in found.edits]
    if others and not SPEAKS.search(message):
        return
    for path, mark, edit in edits:
        if edit.kind in _ORDER and not SPEAKS.search(message):
            continue
        key = (edit.kind, edit.cause, edit.place, path, edit.function)
        same[key] += 1
        if same[key] <= SAME:
            yield {
                "repository": repository,
                "commit": f"https://github.com/{repository}/commit/{commit['sha']}",
                "date": commit["date"],
                "path": path,
                "line": edit.line,
                "after": edit.after,
                "function": edit.function.rpartition(".")[2],
                "fix": edit.kind,
                "cause": edit.cause,
                "place": edit.place,
                "expression": edit.expression,
                "to": edit.to,
                "alone": not others,
                "mark": mark,
            }


def _of_something_else(message: str) -> bool:
    """Whether a message tells another reason than that something was on the wrong device."""
    if _SAYS_SO.search(message):
        return False
    subject = message.strip().partition("\n")[0]
    if _OF_TYPES.search(subject) and not re.search(r"device|cuda|[cg]pu", subject, re.IGNORECASE):
        return True
    return bool(_OTHER_SUBJECTS.search(subject) or _OTHER_REASONS.search(message[:_BEGINNING]))


def _promises(commit: dict[str, Any]) -> bool:
    """Whether most lines that were put in speak of devices: parsing the others would be in vain."""
    added = [
        line
        for file in commit["files"]
        for _, _, start, number in file["hunks"]
        for line in file["after"].split("\n")[start - 1 : start - 1 + number]
        if line.strip() and not line.lstrip().startswith(("#", "import ", "from "))
    ]
    return sum(bool(PLACES.search(line)) for line in added) >= max(1, len(added) / 3)


def _print(before: list[str], after: list[str], edit: Edit) -> str:
    """Tells the edit's lines from others, where a branch or a fork has made the same edit again."""
    lines = before[edit.line - 1 : edit.line + 1] + after[edit.after - 1 : edit.after + 1]
    return f"{zlib.crc32(''.join(''.join(lines).split()).encode()):08x}"


def _grouped(found: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each commit once, its repository's group and the part that the group is in."""
    first, group, marks = dict[str, str](), dict[str, str](), set[tuple[str, str]]()
    for row in found:
        sha, here = row["commit"].rpartition("/")[2], row["repository"]
        there = first.setdefault(sha, here)
        group.setdefault(here, group.get(there, here))
        if there != here:
            group[here] = group[there]
            continue
        if (row["mark"], row["fix"]) in marks:
            continue
        marks.add((row["mark"], row["fix"]))
        part = "measure" if zlib.crc32(group[here].encode()) % PARTS == 0 else "learn"
        kept = {key: value for key, value in row.items() if key != "mark"}
        yield {**kept, "group": group[here], "part": part}


def table(kept: Iterable[dict[str, Any]]) -> str:
    """By cause: how often each fix and each place was chosen, and what share of the choices is the first
    fix, or among the first three, that kb/causes names."""
    by = defaultdict[str, list[dict[str, Any]]](list)
    for row in kept:
        by[row["cause"] or "not told"].append(row)
    lines = [
        "| cause | rows | repositories | fixes | places | our first | first three |",
        "|---|---|---|---|---|---|---|",
    ]
    for cause, some in sorted(by.items(), key=lambda one: -len(one[1])):
        named = fixes_named(cause)
        cells = [
            cause,
            str(len(some)),
            str(len({row["repository"] for row in some})),
            *(_shares(row[what] for row in some) for what in ("fix", "place")),
            *(
                f"{sum(row['fix'] in few for row in some) / len(some):.2f}"
                for few in (named[:1], named[:3])
            ),
        ]
        lines.append(f"| {' | '.join(cells if named else [*cells[:-2], '', ''])} |")
    return "\n".join(lines)


def _shares(chosen: Iterable[str]) -> str:
    count = Counter(chosen)
    return ", ".join(f"`{one}` {n / count.total():.2f}" for one, n in count.most_common(4))


def fixes_named(cause: str) -> list[str]:
    """The kinds of the fixes that kb/causes names for a cause, in its order."""
    file = KB / "causes" / f"{cause}.toml"
    if not file.is_file():
        return []
    return [fix["kind"] for fix in loads(file.read_text(encoding="utf-8"))["fixes"]]


if __name__ == "__main__":
    main()
