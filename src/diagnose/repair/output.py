"""A repair for people and for programs."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from functools import partial
from typing import Any

from diagnose.errors import printable
from diagnose.model import Lang
from diagnose.processes import TOO_LONG
from diagnose.rendering.words import width
from diagnose.repair.model import Candidate, Failure, Guard, Program, Ran, Repair
from diagnose.repair.words import say, told

SCHEMA = 1
_HOLDS = {True: "ok ", False: "NO ", None: " ? "}
_SHOWN = 5
#: How a script ends that was given the wrong arguments, by its own parser, and what that says then.
_USAGE, _REQUIRED = 2, re.compile(r"\b(?:required|[Mm]issing (?:argument|option|parameter))\b")
#: What multiprocessing says where a script that it runs anew starts processes again.
_UNGUARDED = "before the\n        current process has finished its bootstrapping phase"
#: Columns of what a line begins with.
_LABELS = 9


def lines(
    repair: Repair, program: Program, gpus: int, *, from_log: str = "", lang: Lang = "en"
) -> Iterator[str]:
    """The repair as text.

    Args:
        repair: the end of the attempt.
        program: what was run.
        gpus: on how many simulated GPUs.
        from_log: a diff that only a log's report speaks for, where nothing fails here.
        lang: the language; reasons are in that of the attempt.
    """
    tell = partial(say, lang)
    yield _head(repair, program, gpus, lang)
    if repair.diff:
        yield ""
        yield from map(printable, repair.diff.splitlines())
        yield ""
    for one in repair.applied:
        yield _row(tell("because"), f"{one.file}:{one.line} {printable(one.because)}")
        yield _row("", f"{one.cause}: {printable(one.title)}")
    if repair.proof is not None:
        for number, guard in enumerate(sorted(repair.proof.guards, key=_first)):
            row = f"{_HOLDS[guard.holds]} {printable(told(lang, guard.sentence))}"
            yield _row("" if number else tell("proof"), row)
        yield from _unexercised(repair.proof.unexercised, lang)
        if program.script.endswith(".ipynb"):
            yield _row(tell("prove"), tell("on-your-gpus-cells"))
        else:
            command = _verification(program)
            yield _row(tell("prove"), tell("on-your-gpus", command=command))
    if repair.left is not None and repair.left.failure is not None:
        left = repair.left.failure
        yield _row(tell("left"), f"{left.place} {printable(left.error).splitlines()[0]}")
        for file in repair.unfit:
            yield _row("", tell("unfit", file=file))
        yield from _advice(repair.left, lang)
    for fault in _missing(repair):
        yield _row(tell("missing"), tell("fault", fault=fault))
    if repair.outcome == "not-reproducible":
        yield from _why(repair.first, program, lang)
        if from_log:
            yield tell("log-proposes")
            yield from map(printable, from_log.splitlines())


def _first(guard: Guard) -> int:
    """What speaks against a patch is read first, and last what is not known."""
    return (False, True, None).index(guard.holds)


def _missing(repair: Repair) -> list[str]:
    """What a fault of ours kept from being proven, or from being proposed, where that may be why it is not
    repaired."""
    runs = (
        [] if repair.proof is not None else [repair.first, *([repair.left] if repair.left else [])]
    )
    proposed = (fault for ran in runs for fault in ran.missing)
    return list(dict.fromkeys([*proposed, *repair.missing]))


def _row(label: str, told: str) -> str:
    return f"{label}{' ' * max(1, _LABELS - width(label))}{told}"


def _head(repair: Repair, program: Program, gpus: int, lang: Lang) -> str:
    said = say(lang, repair.proof.level if repair.proof is not None else repair.outcome)
    spent = say(lang, "spent", gpus=gpus, runs=repair.tries, seconds=repair.seconds)
    return f"{program.script}: {said}  {spent}"


def _unexercised(names: tuple[str, ...], lang: Lang) -> Iterator[str]:
    if names:
        rest = len(names) - _SHOWN
        more = f" {say(lang, 'more', count=rest)}" if rest > 0 else ""
        yield _row(say(lang, "unexercised"), f"{', '.join(names[:_SHOWN])}{more}")


def _verification(program: Program) -> str:
    """The command that checks the program on GPUs, each of its processes where there are several."""
    count = program.processes
    start = f"torchrun --nproc-per-node {count} -m diagnose" if count > 1 else "diagnose"
    module = "-m " if program.module else ""
    return f"{start} run --verify {module}{shlex.join((program.script, *program.args))}"


def _advice(left: Ran, lang: Lang) -> Iterator[str]:
    """What the answer knows beside edits of the user's files: a library's fixed version, a command."""
    causes = (left.answer or {}).get("causes", [])[:1]
    for cause in causes:
        yield _row(say(lang, "likely"), f"{cause['id']}: {printable(cause['title'])}")
        for fix in cause["fixes"][:2]:
            told = fix["command"] or (fix["patch"] and f"\n{fix['patch']}") or fix["title"]
            yield _row(say(lang, "try"), printable(told))


def _why(first: Ran, program: Program, lang: Lang) -> Iterator[str]:
    if first.status == TOO_LONG:
        yield say(lang, "too-long")
        if _UNGUARDED in first.errors:
            yield say(lang, "unguarded")
        return
    if first.failure is not None:
        yield say(lang, "other-failure", place=first.failure.place)
        yield from map(printable, first.failure.error.splitlines()[:3])
        yield from _hint(first.failure, program, lang)
        return
    if first.cut:
        yield say(lang, "cut-short")
    yield say(lang, "no-exception", status=first.status)
    yield from map(printable, first.errors.strip().splitlines()[-3:])
    if first.status == _USAGE and _REQUIRED.search(first.errors):
        yield say(lang, "arguments", script=program.script)


def _hint(failure: Failure, program: Program, lang: Lang) -> Iterator[str]:
    """What the user may do about a failure that comes from how the program is run here."""
    if failure.above:
        yield say(lang, "above", above=failure.above, origin=program.origin)
    if failure.error.startswith("PermissionError: [Errno 13]"):
        yield say(lang, "refused")
    if failure.error.startswith("EOFError: EOF when reading a line"):
        yield say(lang, "no-input")
    inside = not program.module and program.script.endswith(".py")
    if inside and "attempted relative import with no known parent package" in failure.error:
        module = program.script.removesuffix(".py").replace("/", ".")
        yield say(lang, "of-a-package", module=module)


def as_dict(repair: Repair, program: Program, gpus: int, lang: Lang) -> dict[str, Any]:
    """The repair as plain values (docs/fixing.md)."""
    proof, left = repair.proof, repair.left
    proven = proof is not None and proof.level == "proven"
    return {
        "schema": SCHEMA,
        "script": program.script,
        "args": list(program.args),
        "gpus": gpus,
        "outcome": repair.outcome,
        "level": proof.level if proof else None,
        "diff": repair.diff or None,
        "edits": [_edit(one, proven if proof else None) for one in repair.applied],
        "guards": [
            {**guard._asdict(), "sentence": told(lang, guard.sentence)}
            for guard in (proof.guards if proof else ())
        ],
        "unexercised": list(proof.unexercised) if proof else [],
        "failure": _failure(repair.first),
        "left": _failure(left) if left else None,
        "status": repair.first.status,
        "incomplete": _missing(repair),
        "answer": _answer(repair, proven if proof else None),
        "runs": repair.tries,
        "seconds": round(repair.seconds, 3),
    }


def _edit(one: Candidate, proven: bool | None) -> dict[str, Any]:
    return {
        "cause": one.cause,
        "kind": one.kind,
        "title": one.title,
        "because": one.because,
        "file": one.file,
        "line": one.line,
        "stopgap": one.stopgap,
        "patch": one.patch,
        "proven": proven,
    }


def _answer(repair: Repair, proven: bool | None) -> dict[str, Any] | None:
    """The answer to the first failure, which says of the edits that were kept whether they are proven."""
    if repair.first.answer is None:
        return None
    kept = {one.patch for one in repair.applied}
    answer: dict[str, Any] = json.loads(json.dumps(repair.first.answer))
    for cause in answer["causes"]:
        for fix in cause["fixes"]:
            if fix["patch"] in kept:
                fix["proven"] = proven
    return answer


def _failure(ran: Ran) -> dict[str, Any] | None:
    failure = ran.failure
    if failure is None:
        return None
    return {"error": failure.error, "place": failure.place, "placement": failure.placement}


def as_json(repair: Repair, program: Program, gpus: int, lang: Lang) -> str:
    """The repair as one JSON object in a line."""
    return json.dumps(as_dict(repair, program, gpus, lang), ensure_ascii=False)
