"""How many programs the printed edits repair.

    python benchmarks/repair.py FOLDER [--source] [--warm torch,transformers] [-v]

FOLDER holds labelled reports (docs/evaluating.md) with their programs: NAME.txt, NAME.json, NAME.py, which
fails, and NAME.fixed.py, which runs to its end. A label's ``run`` says how they are run on simulated GPUs:
``gpus``, ``wording``, ``args``, ``env``. Of each the first cause's first three fixes are taken; those with
a patch are applied with ``git apply`` in the program's folder, one at a time, and what comes out is run.
Cases count where the program fails here and the fixed one does not. One program runs at a time, in a
process of its own that is forked after the modules of --warm are imported; what a text gave is kept in
--cache.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import forked

from diagnose.casebase.store import load
from diagnose.model import Fix
from diagnose.pipeline import diagnose
from diagnose.sources import Folder, Sources

#: Seconds that a program may take.
LIMIT = 60
_TRIED = 3


class Ran(NamedTuple):
    """What a run gave: its exit status, what it printed, and its last words."""

    status: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """Where it ended and what it said: the last place in the program, the last line."""
        lines = [line for line in self.err.splitlines() if line.strip()]
        places = [line.strip() for line in lines if "program.py" in line and "line " in line]
        return " | ".join([*places[-1:], *lines[-1:]])[:300]


class Tried(NamedTuple):
    """A fix of an answer and what became of the program: ``runs``, ``no effect``, ``other error`` ..."""

    fix: str
    patch: str
    at_label: bool
    result: str
    same_output: bool
    error: str = ""


class Case(NamedTuple):
    """A labelled program, and what the answer's patches made of it."""

    name: str
    label: dict[str, Any]
    cause: str
    counts: bool
    why: str
    tried: tuple[Tried, ...]


class Runner:
    """Runs programs on simulated GPUs, and remembers what came out."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        cache.mkdir(parents=True, exist_ok=True)

    def run(self, text: str, name: str, how: dict[str, Any], siblings: Path) -> Ran:
        """What a program's text gives, from the cache where it was run before."""
        key = hashlib.sha256(json.dumps([text, name, how], sort_keys=True).encode()).hexdigest()
        kept = self._cache / f"{key[:24]}.json"
        if kept.exists():
            return Ran(*json.loads(kept.read_text()))
        ran = self._forked(text, name, how, siblings)
        kept.write_text(json.dumps(ran))
        return ran

    def _forked(self, text: str, name: str, how: dict[str, Any], siblings: Path) -> Ran:
        with tempfile.TemporaryDirectory() as folder:
            forked.link_data(siblings, folder)
            program = Path(folder, name)
            program.write_text(text)
            status, *said = forked.script(
                program,
                LIMIT,
                gpus=how.get("gpus", 2),
                wording=how.get("wording", "new"),
                args=how.get("args") or [],
                env={key: str(value) for key, value in (how.get("env") or {}).items()},
            )
            said = [one.replace(str(program), "program.py").replace(folder, "") for one in said]
            return Ran(status, said[0][-20000:], said[1][-4000:])


def applied(text: str, patch: str, name: str) -> str | None:
    """A program's text with a patch applied in its folder, None where git refuses it."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, name)
        program.write_text(text)
        run = subprocess.run(
            ["git", "apply", "-"],
            input=patch.encode(),
            cwd=folder,
            env={**os.environ, "GIT_CEILING_DIRECTORIES": str(Path(folder).parent)},
            capture_output=True,
        )
        return program.read_text() if run.returncode == 0 else None


def cases(folder: Path, runner: Runner, *, source: bool, only: str) -> Iterator[Case]:
    casebase = load()
    for label_file in sorted(folder.glob("*.json")):
        name = label_file.stem
        program, fixed = folder / f"{name}.py", folder / f"{name}.fixed.py"
        if not (program.exists() and fixed.exists()) or only not in name:
            continue
        label = json.loads(label_file.read_text())
        how = {key: (label.get("run") or {}).get(key) for key in ("gpus", "wording", "args", "env")}
        how = {key: value for key, value in how.items() if value}
        text = program.read_text()
        failed = runner.run(text, program.name, how, folder)
        wanted = runner.run(fixed.read_text(), program.name, how | _how_fixed(label, how), folder)
        why = ""
        if failed.status == 0:
            why = "the program runs to its end here"
        elif wanted.status != 0:
            why = f"the fixed program fails here: {wanted.error}"
        sources = Sources([Folder(str(folder))], read=None) if source else None
        with (folder / f"{name}.txt").open("rb") as stream:
            answer = diagnose(stream.read(), name, casebase=casebase, sources=sources)
        first = answer.causes[0] if answer.causes else None
        fixes = first.fixes[:_TRIED] if first else ()
        yield Case(
            name,
            label,
            first.id if first else "-",
            not why,
            why,
            tuple(
                _tried(fix, text, program.name, how, folder, runner, failed, wanted, label, not why)
                for fix in fixes
                if fix.patch is not None
            ),
        )


def _how_fixed(label: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    """How the fixed program is run, where that is otherwise."""
    return {k: v for k, v in (label.get("run_fixed") or {}).items() if k in ("args", "env", *how)}


def _tried(
    fix: Fix,
    text: str,
    name: str,
    how: dict[str, Any],
    folder: Path,
    runner: Runner,
    failed: Ran,
    wanted: Ran,
    label: dict[str, Any],
    counts: bool,
) -> Tried:
    assert fix.patch is not None
    at_label = _at_label(fix, label)
    edited = applied(text, fix.patch, name)
    if edited is None:
        return Tried(fix.kind, fix.patch, at_label, "does not apply", False)
    if not counts:
        return Tried(fix.kind, fix.patch, at_label, "not run", False)
    ran = runner.run(edited, name, how, folder)
    if ran.status == 0:
        return Tried(fix.kind, fix.patch, at_label, "runs", ran.out == wanted.out)
    result = "no effect" if _same_failure(ran, failed) else "other error"
    return Tried(fix.kind, fix.patch, at_label, result, False, ran.error)


def _same_failure(ran: Ran, failed: Ran) -> bool:
    return ran.error.rpartition("|")[2] == failed.error.rpartition("|")[2] and [
        line.split(", in ")[-1] for line in ran.err.splitlines() if line.startswith("  File")
    ] == [line.split(", in ")[-1] for line in failed.err.splitlines() if line.startswith("  File")]


def _at_label(fix: Fix, label: dict[str, Any]) -> bool:
    """Whether a fix edits the labelled line."""
    culprit, edit = label.get("culprit") or {}, fix.edit
    if edit is None or not culprit.get("line"):
        return False
    same_file = Path(edit.file).name == Path(str(culprit.get("file"))).name
    lines = edit.before.count("\n") + 1
    return same_file and edit.line <= culprit["line"] < edit.line + lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--source", action="store_true", help="FOLDER's programs may be read")
    parser.add_argument("--warm", default="torch", help="modules to import before programs run")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir(), "repair-cache"))
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell each case")
    args = parser.parse_args()
    forked.warm(args.warm)
    found = []
    for case in cases(args.folder, Runner(args.cache), source=args.source, only=args.only):
        found.append(case)
        if args.verbose:
            _tell(case)
    print(_table(found))


def _tell(case: Case) -> None:
    print(f"== {case.name}: {case.label.get('cause')} -> {case.cause}  {case.why}")
    for one in case.tried:
        at = " at the label" if one.at_label else ""
        same = " (same output)" if one.same_output else ""
        print(f"   {one.fix}: {one.result}{same}{at}  {one.error}")
        for line in one.patch.splitlines()[2:]:
            if line[:1] in "+-":
                print(f"      {line}")
    sys.stdout.flush()


def _table(found: list[Case]) -> str:
    ran = [case for case in found if case.counts]
    firsts = Counter(case.tried[0].result if case.tried else "no patch" for case in ran)
    rows = {
        "cases": len(found),
        "cases that count": len(ran),
        "first cause is the label's": sum(
            case.cause in (case.label["cause"], *case.label.get("also_ok", ())) for case in ran
        ),
        "run by the first edit": firsts["runs"],
        "... with the fixed program's output": sum(
            case.tried[0].same_output for case in ran if case.tried
        ),
        "run by any of the first three": sum(
            any(t.result == "runs" for t in case.tried) for case in ran
        ),
        "... with the fixed program's output ": sum(
            any(t.same_output for t in case.tried) for case in ran
        ),
        "first edit at the labelled line": sum(
            case.tried[0].at_label for case in ran if case.tried
        ),
        "first edit at the labelled line, of all cases": sum(
            case.tried[0].at_label for case in found if case.tried
        ),
        "no patch": firsts["no patch"],
        "first edit has no effect": firsts["no effect"],
        "first edit, another error": firsts["other error"],
        "first edit does not apply": firsts["does not apply"],
    }
    return "\n".join(["", "| | |", "|---|---|", *(f"| {k} | {v} |" for k, v in rows.items())])


if __name__ == "__main__":
    main()
