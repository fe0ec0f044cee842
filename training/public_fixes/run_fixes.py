"""Makes failures of public fixes: a repository as it was before a change fails on a simulated GPU, and as
it was after it does not, in a program that calls what was changed.

    unshare --net python training/public_fixes/run_fixes.py CLONES/ PAIRS/ [--only NAME] [--most N]

``CLONES`` is as `walk_commits.py` has it. This runs other people's code: cut off the network, use no
account that matters. ``PAIRS`` gets a folder for each change that was tried, with what became of it; where
it ran, ``before/``, ``after/``, ``trace.txt`` and ``pair.json``. It holds other people's code, too:
it stays out of the repository.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "benchmarks")]

import forked  # noqa: E402
from archives import extracted  # noqa: E402
from calling import programs, targets  # noqa: E402
from generator.labels import is_about_devices  # noqa: E402
from learn_fixes import ROWS  # noqa: E402

SECONDS_TO_FIND, SECONDS_TO_RUN = 120, 60
SEED = 0
PROGRAM = "call_changed.py"
#: Of a repository's files those that programs import, and that they may read.
ENDS = ("py", "txt", "json", "yaml", "toml")


def main() -> None:
    """Tries rows in a random order, and prints what became of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--rows", type=Path, default=ROWS)
    parser.add_argument("--only", default="", help="changes whose names contain this")
    parser.add_argument("--program", type=Path, help="call it with this, and look for no call")
    parser.add_argument("--most", type=int, default=10_000, help="so many rows (%(default)s)")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.rows.read_text(encoding="utf-8").splitlines()]
    rows = [one for one in rows if options.only in _name(one)]
    random.Random(SEED).shuffle(rows)
    rows.sort(key=lambda one: _lacking(one, options.clones))
    became = Counter[str]()
    tried = set[str]()
    for row in rows[: options.most]:
        name = _name(row)
        git = _git(row, options.clones)
        folder = options.pairs / name
        if not git.is_dir() or ((folder / "became").exists() and not options.program):
            continue
        tried.add(row["repository"])
        folder.mkdir(parents=True, exist_ok=True)
        outcome = attempt(row, git, folder, options.program)
        (folder / "became").write_text(outcome, encoding="utf-8")
        if outcome != "a pair":
            shutil.rmtree(folder / "before", ignore_errors=True)
            shutil.rmtree(folder / "after", ignore_errors=True)
        became[outcome.partition(":")[0]] += 1
        print(name, row["cause"] or "-", outcome, flush=True)
    print(f"{sum(became.values())} of {len(tried)} repositories:", dict(became.most_common()))


def _name(row: dict[str, Any]) -> str:
    return f"{row['repository'].replace('/', '+')}+{row['commit'][-40:-30]}+{row['line']}"


def _git(row: dict[str, Any], clones: Path) -> Path:
    return clones / row["repository"].replace("/", "+") / "repo"


def attempt(row: dict[str, Any], git: Path, folder: Path, written: Path | None = None) -> str:
    """What became of a row: "a pair", or why it is none."""
    sha = row["commit"].rpartition("/")[2]
    for tree, which in ((f"{sha}^", "before"), (sha, "after")):
        if not _laid_out(git, tree, folder / which):
            return "no files"
    path = Path(row["path"])
    root, module = _import_path(folder / "after", path)
    if written is not None:
        root, found = folder / "after", [written.read_text(encoding="utf-8")]
    else:
        found, why = _programs(root, module, folder / "after" / path, row["after"])
        if not found:
            return why
    said = "runs on a GPU, before as after"
    for program in found:
        ran = {}
        for which in ("after", "before"):
            at = folder / which / root.relative_to(folder / "after")
            (at / PROGRAM).write_text(program, encoding="utf-8")
            shutil.copy(HERE / "stand_ins.py", at)
            ran[which] = forked.script(at / PROGRAM, SECONDS_TO_RUN, gpus=1)
        (status, printed, _), (failed, _, trace) = ran["after"], ran["before"]
        if status:
            said = f"fails on a GPU after the change, too: {ran['after'][2].strip()[-160:]}"
        elif failed and is_about_devices(trace):
            home = str(folder.resolve() / "before")
            told = {**row, "root": str(root.relative_to(folder / "after")), "printed": printed}
            (folder / "pair.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
            (folder / "trace.txt").write_text(
                trace.replace(home, "/home/user/project"), encoding="utf-8"
            )
            return "a pair"
    return said


def _lacking(row: dict[str, Any], clones: Path) -> int:
    """How many packages the changed file imports that are not here: those with few are tried first."""
    git = _git(row, clones)
    name = f"{row['commit'].rpartition('/')[2]}:{row['path']}"
    shown = subprocess.run(["git", "-C", str(git), "show", name], capture_output=True)
    own = {*Path(row["path"]).parts, row["repository"].rpartition("/")[2]}
    try:
        tree = ast.parse(shown.stdout)
    except (SyntaxError, ValueError):
        return sys.maxsize
    named = set[str]()
    for one in ast.walk(tree):
        if isinstance(one, ast.Import):
            named |= {name.name.partition(".")[0] for name in one.names}
        elif isinstance(one, ast.ImportFrom) and not one.level:
            named.add((one.module or "").partition(".")[0])
    return sum(find_spec(name) is None for name in named - own)


def _laid_out(git: Path, tree: str, folder: Path) -> bool:
    """Writes the Python files of a tree, and what they may read beside them; whether there were any."""
    folder.mkdir(exist_ok=True)
    for end in ENDS:
        extracted(git, tree, folder, end)
    return any(folder.iterdir())


def _import_path(folder: Path, path: Path) -> tuple[Path, str]:
    """Where a file is imported from, and its module: from outside its packages, else from the top."""
    parts = list(path.with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    above = folder / path.parent
    depth = len(path.parts) - 1
    while depth and (above / "__init__.py").exists():
        above, depth = above.parent, depth - 1
    if depth == len(path.parts) - 1 and all(one.isidentifier() for one in parts):
        above, depth = folder, 0
    return above, ".".join(parts[depth:])


def _programs(root: Path, module: str, file: Path, line: int) -> tuple[list[str], str]:
    """Programs that run on the cpu and call what is in a line, found in a process of its own."""
    answer = file.parent / ".programs.json"
    shutil.copy(HERE / "stand_ins.py", root)
    child = os.fork()
    if child == 0:
        found, why = [], "no call was found"
        try:
            os.setsid()
            os.chdir(root)
            wanted = targets(file.read_text(encoding="utf-8"), line)
            if not wanted:
                why = "in no function"
            for program in programs(root, module, wanted):
                found.append(program)
                answer.write_text(json.dumps([found, ""]), encoding="utf-8")
        except BaseException as error:
            why = f"not imported: {type(error).__name__}: {error}"[:160]
        finally:
            if not found:
                answer.write_text(json.dumps([found, why]), encoding="utf-8")
            os._exit(0)
    forked.wait(child, SECONDS_TO_FIND)
    if not answer.exists():
        return [], "no call was found in time"
    found, why = json.loads(answer.read_text(encoding="utf-8"))
    return found, why


if __name__ == "__main__":
    main()
