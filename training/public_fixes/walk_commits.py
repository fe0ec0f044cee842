"""Walks the history of public repositories for small changes of Python that speak of devices, and keeps
their files before and after, for `learn_fixes.py` to read. What it writes holds other people's code: it
stays out of the repository.

    python training/public_fixes/walk_commits.py CLONES/ COMMITS/

``CLONES`` holds a folder ``owner+name`` with a git directory ``repo`` for each repository.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

#: A change of more hunks, or more lines, is taken for a feature and not a fix.
HUNKS, LINES = 3, 24
#: One whose message speaks of a fix of devices may be larger.
MORE_HUNKS, MORE_LINES = 8, 60
PLACES = re.compile(
    r"\.to\(|\.cuda\(|\.cpu\(|device|map_location|register_buffer|nn\.Parameter|ModuleList|ModuleDict"
    r"|type_as|\.new_\w+\(|\.new\(|_like\(|_no_split_modules"
)
SPEAKS = re.compile(
    r"same device|device mismatch|wrong device|cpu and (?:cuda|gpu)|cuda and cpu|expected all tensors"
    r"|to (?:the )?(?:right|correct|proper|same|model'?s?|input'?s?) device"
    r"|device (?:error|bug|issue|placement)"
    r"|\b(?:fix|bug|error|crash|fail|support)\w*\b[^\n]{0,60}\b(?:gpus?|cuda|cpu|devices?|mps|map_location"
    r"|register_buffer)\b|\b(?:gpus?|cuda|devices?|map_location|buffers?)\b[^\n]{0,60}\b(?:fix|bug|error)",
    re.IGNORECASE,
)
_APART = re.compile(
    r"(^|/)(tests?|testing|docs?|unit_?tests?)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$"
)
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class Hunk(NamedTuple):
    """Lines from 1: ``removed`` from ``before`` on became ``added`` from ``after`` on."""

    before: int
    removed: int
    after: int
    added: int


def main() -> None:
    """Writes a file of commits, one a line, for each repository that has none yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("commits", type=Path)
    options = parser.parse_args()
    options.commits.mkdir(parents=True, exist_ok=True)
    for folder in sorted(path for path in options.clones.iterdir() if path.is_dir()):
        kept = options.commits / f"{folder.name}.jsonl.gz"
        git = folder / "repo"
        if kept.exists() or not git.is_dir():
            continue
        unfinished = kept.with_suffix(".part")
        number = 0
        with gzip.open(unfinished, "wt", encoding="utf-8") as out:
            for found in commits(git / ".git" if (git / ".git").is_dir() else git):
                number += 1
                print(json.dumps(found), file=out)
        unfinished.rename(kept)
        print(folder.name, number, flush=True)


def commits(git: Path) -> Iterator[dict[str, object]]:
    """Its small changes that speak of devices: ``sha``, ``date``, ``message`` and ``files``, of each its
    ``path``, ``hunks``, and the text ``before`` and ``after``."""
    blobs = subprocess.Popen(
        ["git", f"--git-dir={git}", "cat-file", "--batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        for sha, date, message, files, lines in _changes(git):
            if not files or not any(PLACES.search(line) for line in lines):
                continue
            hunks = sum(map(len, files.values()))
            speaks = bool(SPEAKS.search(message))
            most, longest = (MORE_HUNKS, MORE_LINES) if speaks else (HUNKS, LINES)
            if hunks > most or len(lines) > longest:
                continue
            kept = []
            for path, some in files.items():
                before, after = (_blob(blobs, f"{one}:{path}") for one in (f"{sha}^", sha))
                if before is not None and after is not None:
                    kept.append({"path": path, "hunks": some, "before": before, "after": after})
            if kept:
                yield {"sha": sha, "date": date, "message": message, "files": kept}
    finally:
        blobs.kill()
        blobs.wait()


def _changes(git: Path) -> Iterator[tuple[str, str, str, dict[str, list[Hunk]], list[str]]]:
    command = ["git", f"--git-dir={git}", "log", "--no-merges", "--no-renames", "-p", "-U0"]
    command += ["--format=%x00%H%x1f%cs%x1f%B%x1e", "--", "*.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as log:
        assert log.stdout is not None
        part = list[str]()
        for raw in log.stdout:
            line = raw.decode("utf-8", "replace")
            if line.startswith("\0") and part:
                yield _change("".join(part))
                part = []
            if len(part) < 5_000:
                part.append(line)
        if part:
            yield _change("".join(part))


def _change(text: str) -> tuple[str, str, str, dict[str, list[Hunk]], list[str]]:
    head, _, diff = text.lstrip("\0").partition("\x1e")
    sha, date, message = head.split("\x1f", 2)
    files, lines, path = dict[str, list[Hunk]](), list[str](), ""
    for line in diff.split("\n"):
        if line.startswith(("--- ", "diff --git")):
            path = line[6:] if line.startswith("--- a/") else ""
        elif line.startswith("+++ "):
            path = path if line[6:] == path and not _APART.search(path) else ""
        elif path and (found := _HUNK.match(line)):
            a, b, c, d = (1 if some is None else int(some) for some in found.groups())
            files.setdefault(path, []).append(Hunk(a, b, c, d))
        elif path and line[:1] in ("+", "-"):
            lines.append(line)
    return sha, date, message, files, lines


def _blob(blobs: subprocess.Popen[bytes], name: str) -> str | None:
    assert blobs.stdin is not None
    assert blobs.stdout is not None
    if "\n" in name:
        return None
    blobs.stdin.write(f"{name}\n".encode())
    blobs.stdin.flush()
    head = blobs.stdout.readline().split()
    if len(head) != 3 or head[1] != b"blob":
        if len(head) == 3:
            blobs.stdout.read(int(head[2]) + 1)
        return None
    body = blobs.stdout.read(int(head[2]) + 1)[:-1]
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return None


if __name__ == "__main__":
    main()
