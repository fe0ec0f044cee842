"""The JSON contract: one object for each input (see docs/json.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from diagnose.errors import printable
from diagnose.model import (
    Diagnosis,
    Fix,
    Frame,
    IncidentMatch,
    Lang,
    LiveOperand,
    Question,
    RankedCause,
    Seen,
    UnusedSource,
)
from diagnose.rendering.answer import why_unused

SCHEMA = 1
BRIEF_SCHEMA = 2
_MOST_FIXES = 3
#: The parts of an answer that hold text of the input, as JSONPath (RFC 9535); every other string is ours,
#: or built of names of the input that have a strict form.
QUOTED = (
    *("$.source", "$.error", "$.mismatch", "$.frames", "$.libraries", "$.culprit", "$.strays"),
    *("$.operands", "$.fallout", "$.sources", "$.unused_sources", "$.seen"),
    *("$.causes[*].evidence", "$.causes[*].fixes[*]['patch','edit']"),
)
#: A character less, and these would not apply.
_EXACT = frozenset({"patch", "edit"})


def as_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """The answer as plain values, in the order of the contract."""
    report = diagnosis.report
    error, mismatch = report.error, report.mismatch
    answer = {
        "schema": SCHEMA,
        "quoted": list(QUOTED),
        "source": report.source,
        "verdict": diagnosis.verdict,
        "error": error and {"type": error.type, "message": error.message, "family": error.family},
        "mismatch": mismatch
        and {
            "devices": list(mismatch.devices),
            "op": mismatch.op,
            "argument": mismatch.argument,
            "wording": mismatch.wording,
        },
        "frames": [_frame(frame) for frame in report.frames],
        "libraries": list(report.libraries),
        "culprit": diagnosis.culprit and {**_place(diagnosis.culprit), "basis": diagnosis.basis},
        "strays": [_operand(one) for one in _strays(report.operands)],
        "operands": [_operand(one) for one in report.operands],
        "causes": [_cause(cause) for cause in diagnosis.causes],
        "ranks": list(report.ranks),
        "fallout": [{"type": failure.type, "line": failure.at} for failure in report.fallout],
        "nearest": [_incident(match) for match in diagnosis.nearest],
        "questions": [_question(question) for question in diagnosis.questions],
        "sources": list(diagnosis.sources),
        "unused_sources": [_unused(source, diagnosis.lang) for source in diagnosis.unused],
        "incomplete": [piece.what for piece in diagnosis.incomplete],
        "advice": list(diagnosis.advice),
        "described": report.description is not None,
        "seen": diagnosis.seen and seen_as_dict(diagnosis.seen),
    }
    return {key: _visible(value) for key, value in answer.items()}


def _visible(value: Any) -> Any:
    """The value without characters of its strings that nobody sees: control characters, marks that turn the
    direction of text. A patch stays as it applies."""
    if isinstance(value, str):
        if value.isprintable():
            return value
        return "".join(c for c in value if c.isprintable() or c in "\n\t")
    if isinstance(value, dict):
        return {k: v if k in _EXACT else _visible(v) for k, v in value.items()}
    return list(map(_visible, value)) if isinstance(value, list) else value


def brief(diagnosis: Diagnosis) -> dict[str, Any]:
    """The answer without what a command gives (schema 2): the snippet of the first cause by its id, its
    nearest incident and first fixes; of each other cause the first fact and the first fix."""
    answer = as_dict(diagnosis) | {"schema": BRIEF_SCHEMA}
    for cause in answer["causes"][:1]:
        cause |= {"fixes": cause["fixes"][:_MOST_FIXES], "incidents": cause["incidents"][:1]}
        cause["verification"] = cause["verification"] and {
            "id": cause["id"],
            "command": f"diagnose explain --verification {cause['id']}",
        }
    for cause in answer["causes"][1:]:
        cause |= {"evidence": cause["evidence"][:1], "fixes": cause["fixes"][:1]}
        cause |= {"incidents": [], "known_bugs": [], "verification": None}
    if diagnosis.verdict == "diagnosed":
        answer["nearest"] = []
    return answer


def render(diagnosis: Diagnosis, *, columns: int = 80, color: bool = False) -> str:
    """The brief answer as one line of JSON, whatever the terminal."""
    return json.dumps(brief(diagnosis), ensure_ascii=False)


def _place(frame: Frame) -> dict[str, Any]:
    return {
        "file": frame.file,
        "line": frame.line,
        "function": frame.function,
        "code": frame.code,
    }


def _strays(operands: Sequence[LiveOperand]) -> Iterator[LiveOperand]:
    """The misplaced operands, then what these were computed from."""
    misplaced = [one for one in operands if one.expected is not None]
    yield from misplaced
    yield from (one.root for one in misplaced if one.root is not None)


def _operand(operand: LiveOperand) -> dict[str, Any]:
    return {
        "name": operand.name,
        "kind": operand.kind,
        "device": operand.device,
        "expected": operand.expected,
        "shape": list(operand.shape),
        "born": operand.born and operand.born._asdict(),
        "first_seen": operand.seen,
        "moved": [line._asdict() for line in operand.moved],
    }


def _unused(source: UnusedSource, lang: Lang) -> dict[str, Any]:
    return {
        "file": printable(source.file),
        "line": source.line,
        "reason": source.reason,
        "why": why_unused(source, lang),
    }


def _frame(frame: Frame) -> dict[str, Any]:
    return {**_place(frame), "library": frame.library}


def _incident(match: IncidentMatch) -> dict[str, Any]:
    return {
        "id": match.id,
        "title": match.title,
        "url": match.url,
        "similarity": match.similarity,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "kind": fix.kind,
        "title": fix.title,
        "patch": fix.patch,
        "edit": fix.edit._asdict() if fix.edit is not None and fix.patch is None else None,
        "command": fix.command,
        "code": fix.code,
        "example": fix.example,
        "stopgap": fix.stopgap,
        "proven": None,  # an answer runs nothing: `diagnose fix` does, and says
    }


def _cause(cause: RankedCause) -> dict[str, Any]:
    return {
        "id": cause.id,
        "title": cause.title,
        "why": cause.why,
        "confidence": cause.confidence,
        "evidence": [{"text": e.text, "line": e.line} for e in cause.evidence],
        "incidents": [_incident(match) for match in cause.incidents],
        "fixes": [_fix(fix) for fix in cause.fixes],
        "rather": cause.rather,
        "verification": cause.verification,
        "known_bugs": [bug._asdict() for bug in cause.bugs],
    }


def seen_as_dict(seen: Seen) -> dict[str, Any]:
    """What a store remembers, as plain values."""
    return {
        **seen._asdict(),
        "hosts": list(seen.hosts),
        "fixes": [fix._asdict() for fix in seen.fixes],
    }


def _question(question: Question) -> dict[str, Any]:
    return {
        "id": question.id,
        "text": question.text,
        "code": question.code,
        "place": question.place,
        "command": question.command,
        "answers": [
            {"text": reply.text, "causes": list(reply.causes)} for reply in question.replies
        ],
    }
