"""The one way from an input to an answer; every door (command line, web, hooks) goes through here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diagnose import facts as fact_stage
from diagnose import views
from diagnose.casebase.store import Casebase, load
from diagnose.facts.again import known_again
from diagnose.fixes import for_cause
from diagnose.model import (
    DEVICE_FAMILY,
    Diagnosis,
    Evidence,
    Fact,
    FactRule,
    RankedCause,
    Report,
    SeenTensor,
    Verdict,
)
from diagnose.parsing import parse, parse_stream
from diagnose.parsing.bytestream import ByteStream
from diagnose.ranking.causes import THRESHOLD, Scored, likely, rank
from diagnose.ranking.neighbours import nearest
from diagnose.ranking.questions import ask
from diagnose.verification.snippet import snippet

#: Causes below this confidence are not worth a reader's time.
_WORTH_SHOWING = 0.01
_MAX_EVIDENCE = 4


def diagnose(
    data: bytes | str | ByteStream,
    source: str = "-",
    *,
    casebase: Casebase | None = None,
    top: int = 3,
) -> Diagnosis:
    """Reads a pasted traceback or a log and answers.

    Args:
        data: the input, whatever it is; a binary stream of any length is read in bounded memory.
        source: its name in the answer, ``-`` for standard input.
        casebase: the case base, in the language of the answer; the built-in one in English if None.
        top: how many causes the answer holds at most.

    Raises:
        CasebaseError: the case base cannot be read.
        OSError: the stream cannot be read.
    """
    casebase = casebase or load()
    known: Any = {
        "wordings": casebase.wordings,
        "libraries": casebase.libraries,
        "families": casebase.families,
    }
    if isinstance(data, bytes | str):
        report = parse(data, source, **known)
    else:
        report = parse_stream(data, source, **known)
    return explain(report, casebase=casebase, top=top)


def explain(
    report: Report,
    *,
    casebase: Casebase | None = None,
    top: int = 3,
    tensors: tuple[SeenTensor, ...] = (),
) -> Diagnosis:
    """Answers for a report that is already parsed, with the tensors that a live hook saw."""
    casebase = casebase or load()
    if tensors:
        report = report._replace(tensors=tensors)
    if report.error is None:
        return Diagnosis(report, "no-error", lang=casebase.lang)
    if report.error.family != DEVICE_FAMILY:
        return Diagnosis(report, "unknown", views.culprit(report), lang=casebase.lang)
    found = fact_stage.read(report, casebase.facts, casebase.operands)
    matches = nearest(report, casebase.incidents)
    ranked = rank(found, matches, casebase.causes)
    causes = tuple(
        _answer(scored, ranked[0], report, found, casebase)
        for scored in ranked[:top]
        if scored.confidence >= _WORTH_SHOWING
    )
    verdict: Verdict = "diagnosed" if ranked and ranked[0].confidence >= THRESHOLD else "unknown"
    questions = ask(ranked, report, found, casebase)
    near = likely(matches, ranked)[:3]
    culprit = views.culprit(report, ranked[0].cause.edits if ranked else "own")
    return Diagnosis(report, verdict, culprit, causes, near, casebase.lang, questions)


def _answer(
    scored: Scored,
    best: Scored,
    report: Report,
    found: dict[str, Fact],
    casebase: Casebase,
) -> RankedCause:
    cause = scored.cause
    culprit = views.culprit(report, cause.edits)
    return RankedCause(
        id=cause.id,
        title=cause.title,
        why=cause.why,
        confidence=round(scored.confidence, 4),
        evidence=tuple(
            _evidence(fact, casebase.facts)
            for fact in (*known_again(report, scored.incidents), *scored.support)[:_MAX_EVIDENCE]
        ),
        incidents=scored.incidents,
        fixes=for_cause(cause, report, culprit, found, casebase),
        verification=snippet(cause, report, culprit, casebase),
        rather=best.cause.rather.get(cause.id),
    )


class _Values(dict[str, str]):
    """Values of a sentence; one that is missing shows as an ellipsis instead of failing."""

    def __missing__(self, key: str) -> str:
        return "…"


def _evidence(fact: Fact, rules: Mapping[str, FactRule]) -> Evidence:
    text = rules[fact.id].text.format_map(_Values(fact.values))
    return Evidence(text, fact.line)
