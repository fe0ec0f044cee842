"""How often live evidence is right: labelled programs under ``diagnose run --simulate --output``.

    python benchmarks/live.py FOLDER [--warm torch,transformers] [--every K --from I] [-v]

FOLDER holds NAME.py, which fails, NAME.txt, how it failed, and NAME.json with its label (``cause``,
``also_ok``, ``culprit`` with ``line``, ``also_lines``, ``culprit_tensor``, ``run`` with ``gpus``,
``wording``, ``args``, ``env``). Each program runs in a process of its own, forked from one that imported
the --warm modules. Programs that end otherwise than recorded (a package is missing) do not count.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

import forked

from diagnose import tracing
from diagnose.hooks.live import explain
from diagnose.rendering.json import as_dict
from diagnose.simulation import run_script

LIMIT = 120


def main() -> None:
    parser = forked.parser(__doc__)
    args = parser.parse_args()
    forked.warm(args.warm)
    labels = sorted(args.folder.glob("*.json"))[args.first :: args.every]
    totals: Counter[str] = Counter()
    for path in labels:
        label = json.loads(path.read_text())
        program = path.with_suffix(".py")
        if args.only not in path.stem or not program.exists():
            continue
        totals["programs"] += 1
        answer = run(program, label.get("run") or {})
        if answer is None or not same_failure(answer, program):
            if args.verbose:
                print(f"{path.stem}: does not fail so here: {answer and answer['error']}")
            continue
        judged = judge(answer, label)
        named = is_named(answer["strays"], label, program.read_text())
        totals["fail as recorded"] += 1
        totals.update(name for name, right in judged.items() if right)
        totals["labels that name the tensor as the program does"] += named is not None
        totals["... of these a stray has the name"] += bool(named)
        if args.verbose and not (judged["cause first"] and judged["line to edit"]):
            print(_told(path.stem, answer, label))
        sys.stdout.flush()
    count = totals["fail as recorded"] or 1
    for name, number in totals.items():
        print(f"| {name} | {number} | {number / count:.3f} |")


def _told(name: str, answer: dict[str, Any], label: dict[str, Any]) -> str:
    """A line about an answer that is not right."""
    strays = [(s["name"], s["kind"], s["born"] and s["born"]["line"]) for s in answer["strays"]]
    wanted, got = label.get("culprit") or {}, answer["culprit"] or {}
    causes = [cause["id"] for cause in answer["causes"][:2]]
    return (
        f"{name}: {label['cause']} in line {wanted.get('line')} ({label.get('culprit_tensor')}); answered "
        f"{causes} in line {got.get('line')} ({got.get('basis')}), strays {strays}"
    )


def run(program: Path, how: dict[str, Any]) -> dict[str, Any] | None:
    """The answer to a program's failure, None where it has none."""
    with tempfile.TemporaryDirectory() as folder:
        forked.link_data(program.parent, folder)
        shutil.copy(program, folder)
        out = Path(folder, ".answer")
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _child(program.name, folder, how, out)
        forked.wait(child, LIMIT)
        found: dict[str, Any] | None = json.loads(out.read_text()) if out.exists() else None
        return found


def _child(program: str, folder: str, how: dict[str, Any], out: Path) -> NoReturn:
    """The rest of a forked process."""
    try:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        os.chdir(folder)
        os.environ.update({key: str(value) for key, value in (how.get("env") or {}).items()})
        run_script(
            program,
            how.get("args") or [],
            gpus=how.get("gpus", 2),
            wording=how.get("wording", "new"),
            beside=tracing.trace,
            failed=lambda error: out.write_text(json.dumps(as_dict(explain(error)))),
        )
    finally:
        os._exit(0)


def same_failure(answer: dict[str, Any], program: Path) -> bool:
    """Whether a program fails as when NAME.txt was recorded: by the first line of the message."""
    said = str((answer["error"] or {}).get("message") or "").splitlines()
    return bool(said) and said[0].strip() in program.with_suffix(".txt").read_text(errors="replace")


def is_named(strays: list[dict[str, Any]], label: dict[str, Any], program: str) -> bool | None:
    """Whether a stray has a name of the label's tensor; None where the label tells it in other words than
    the program's."""
    bound = set[str]()
    for node in ast.walk(ast.parse(program)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                bound.add(name)
            case ast.arg(arg=name) | ast.ClassDef(name=name) | ast.Constant(value=str(name)):
                bound.add(name)
    wanted = bound & set(re.findall(r"[A-Za-z_]\w*", label.get("culprit_tensor") or ""))
    names = set(re.findall(r"[A-Za-z_]\w*", " ".join(one["name"] for one in strays)))
    return bool(wanted & names) if wanted else None


def judge(answer: dict[str, Any], label: dict[str, Any]) -> dict[str, bool]:
    """What is right of an answer."""
    line = (label.get("culprit") or {}).get("line")
    causes = [cause["id"] for cause in answer["causes"]]
    culprit = answer["culprit"] or {}
    patch = next((f for c in answer["causes"][:1] for f in c["fixes"] if f["patch"]), None)
    hunk = re.search(r"^@@ -(\d+)", patch["patch"], re.M) if patch else None
    words = re.findall(r"[A-Za-z_]\w*", label.get("culprit_tensor") or "")
    names = re.findall(r"[A-Za-z_]\w*", " ".join(one["name"] for one in answer["strays"]))
    return {
        "operands seen": bool(answer["operands"]),
        "operands with a birth": bool(answer["operands"])
        and all(one["born"] and not one["first_seen"] for one in answer["operands"]),
        "operands with a birth, or the line that used them first": bool(answer["operands"])
        and all(one["born"] for one in answer["operands"]),
        "strays with a birth": bool(answer["strays"])
        and all(one["born"] for one in answer["strays"]),
        "a stray has a word of the label's tensor": bool(set(words) & set(names)),
        "cause first": bool({label["cause"], *label.get("also_ok", ())} & set(causes[:1])),
        "basis is live": culprit.get("basis") == "live",
        "basis is live, and the cause right": culprit.get("basis") == "live"
        and bool({label["cause"], *label.get("also_ok", ())} & set(causes[:1])),
        "line to edit": culprit.get("line") == line,
        "line to edit, or one that the label accepts": culprit.get("line")
        in {line, *label.get("also_lines", ())},
        "a stray's birth or move at the label's line": any(
            line in [(one["born"] or {}).get("line"), *(m["line"] for m in one["moved"])]
            for one in answer["strays"]
        ),
        "first patch at the line": hunk is not None and _edits(patch["patch"], line),
    }


def _edits(patch: str, line: int | None) -> bool:
    """Whether a diff takes away or adds at a line of the old file."""
    at = 0
    for row in patch.splitlines():
        if found := re.match(r"@@ -(\d+)", row):
            at = int(found[1])
        elif row[:1] == "-" and not row.startswith("---"):
            if at == line:
                return True
            at += 1
        elif row[:1] == " ":
            at += 1
    return False


if __name__ == "__main__":
    main()
