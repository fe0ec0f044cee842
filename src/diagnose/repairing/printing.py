"""A repair for people and for programs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

from diagnose.errors import printable
from diagnose.processes import TOO_LONG
from diagnose.repairing.model import Candidate, Program, Ran, Repair

SCHEMA = 1
_LEVELS = {
    "proven": "repaired and proven",
    "same-numbers": "repaired; the numbers are right, and not all guards hold",
    "runs": "it runs to its end, and more is not known",
}
_HOLDS = {True: "ok ", False: "NO ", None: " ? "}
_SHOWN = 5


def lines(repair: Repair, program: Program, gpus: int, *, from_log: str = "") -> Iterator[str]:
    """The repair as text.

    Args:
        repair: the end of the attempt.
        program: what was run.
        gpus: on how many simulated GPUs.
        from_log: a diff that only a log's report speaks for, where nothing fails here.
    """
    yield _head(repair, program, gpus)
    if repair.diff:
        yield ""
        yield from map(printable, repair.diff.splitlines())
        yield ""
    for one in repair.applied:
        yield f"Because  {one.file}:{one.line} {printable(one.because)}"
        yield f"         {one.cause}: {printable(one.title)}"
    if repair.proof is not None:
        for number, guard in enumerate(repair.proof.guards):
            yield f"{'Proof' if number == 0 else '':<8} {_HOLDS[guard.holds]} {guard.sentence}"
        yield from _unexercised(repair.proof.unexercised)
        yield f"Prove    on your GPUs: {' '.join(_command(program, 'verify'))}"
    if repair.left is not None and repair.left.failure is not None:
        left = repair.left.failure
        yield f"Left     {left.place} {printable(left.error).splitlines()[0]}"
        yield from _advice(repair.left)
    if repair.outcome == "not-reproducible":
        yield from _why(repair.first)
        if from_log:
            yield "The log's report proposes this; it could not be tried:"
            yield from map(printable, from_log.splitlines())


def _head(repair: Repair, program: Program, gpus: int) -> str:
    said = {
        "nothing-to-fix": "nothing to fix: it runs to its end as it is",
        "not-reproducible": "not reproducible here",
        "not-repaired": "not repaired",
    }.get(repair.outcome, "")
    if repair.proof is not None:
        said = _LEVELS[repair.proof.level]
    return (
        f"{program.script}: {said}  ({gpus} simulated GPUs, {repair.tries} runs, "
        f"{repair.seconds:.0f} s)"
    )


def _unexercised(names: tuple[str, ...]) -> Iterator[str]:
    if names:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        yield f"Not run  {', '.join(names[:_SHOWN])}{more}"


def _command(program: Program, name: str) -> list[str]:
    return ["diagnose", name, *map(shlex.quote, (program.script, *program.args))]


def _advice(left: Ran) -> Iterator[str]:
    """What the answer knows beside edits of the user's files: a library's fixed version, a command."""
    causes = (left.answer or {}).get("causes", [])[:1]
    for cause in causes:
        yield f"Likely   {cause['id']}: {printable(cause['title'])}"
        for fix in cause["fixes"][:2]:
            told = fix["command"] or (fix["patch"] and f"\n{fix['patch']}") or fix["title"]
            yield f"Try      {printable(told)}"


def _why(first: Ran) -> Iterator[str]:
    if first.status == TOO_LONG:
        yield "It did not end in time (--timeout SECONDS allows more)."
        return
    if first.failure is not None:
        yield f"It fails of something that is no device placement: {first.failure.place}"
        yield from map(printable, first.failure.error.splitlines()[:3])
        return
    yield f"It ends with status {first.status} and without an exception; its last words:"
    yield from map(printable, first.errors.strip().splitlines()[-3:])


def as_dict(repair: Repair, program: Program, gpus: int) -> dict[str, Any]:
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
        "guards": [guard._asdict() for guard in proof.guards] if proof else [],
        "unexercised": list(proof.unexercised) if proof else [],
        "failure": _failure(repair.first),
        "left": _failure(left) if left else None,
        "status": repair.first.status,
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


def as_json(repair: Repair, program: Program, gpus: int) -> str:
    """The repair as one JSON object in a line."""
    return json.dumps(as_dict(repair, program, gpus), ensure_ascii=False)
