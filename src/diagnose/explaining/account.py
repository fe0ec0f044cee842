"""`account`: from an input to what every stage decided about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from diagnose import facts as fact_stage
from diagnose.casebase.store import Casebase
from diagnose.fixes import Considered, considered
from diagnose.model import DEVICE_FAMILY, Diagnosis, Fact, Report
from diagnose.parsing import selection
from diagnose.parsing.bytestream import ByteStream
from diagnose.parsing.lines import Peeled
from diagnose.parsing.report import Found
from diagnose.parsing.retracing import retrace
from diagnose.parsing.watching import Taken
from diagnose.pipeline import explain
from diagnose.placeholders import sentence
from diagnose.placement.model import Suspect
from diagnose.ranking.causes import Scored
from diagnose.ranking.neighbours import nearest
from diagnose.ranking.weights import ranking
from diagnose.scene import Scene, operands
from diagnose.sources import Sources

_GOT_OVER = "the log goes on after it, or says that it was expected or got over"
_ALL_WELL = "stacks that were shown while all was well"
_CHAINED = "in the chain of the error that is explained"


class Error(NamedTuple):
    """An error of the input: its line, what it says, the process that printed it where that is told, and
    what speaks against explaining it; None for the one that is explained."""

    line: int | None
    type: str
    message: str
    process: str | None
    against: str | None


class Held(NamedTuple):
    """A fact that holds: its sentence (None where the report lacks a value), and what its line says without
    the layers (None where that was several lines)."""

    fact: Fact
    sentence: str | None
    text: str | None


class Weighed(NamedTuple):
    """A cause with the terms of its score, and its fixes with their edits or why there are none."""

    scored: Scored
    fixes: Sequence[Considered]


class Account(NamedTuple):
    """How the answer to one input came about. ``causes`` is empty where no cause was ranked,
    ``suspects`` where no file of the user's was at hand or explains an operand; ``misplaced`` are the
    operands that may be the misplaced one, with their shares."""

    diagnosis: Diagnosis
    layers: Sequence[Taken]
    errors: Sequence[Error]
    facts: Sequence[Held] = ()
    causes: Sequence[Weighed] = ()
    suspects: Sequence[Suspect] = ()
    misplaced: Mapping[str, float] = MappingProxyType({})


def account(
    stream: ByteStream, source: str, casebase: Casebase, sources: Sources | None, top: int = 3
) -> Account:
    """What every stage decided about an input.

    Args:
        stream: the input.
        source: its name.
        casebase: what is known.
        sources: finds the files that the traceback names; none are read if None.
        top: how many causes are told of.

    Raises:
        CasebaseError: the case base cannot be read.
        OSError: the stream cannot be read.
    """
    read = retrace(stream, source, knowledge=casebase.knowledge)
    diagnosis = explain(read.report, casebase=casebase, top=top, sources=sources)
    report = diagnosis.report
    told = Account(diagnosis, read.layers, tuple(_errors(read.found, report)))
    if report.error is None or report.error.family != DEVICE_FAMILY:
        return told
    scene = Scene(report, casebase.knowledge, sources)
    found = fact_stage.read(scene)
    ranked = ranking(scene, found, nearest(report, casebase.incidents), casebase)
    weighed = (Weighed(one, considered(one.cause, scene, found)) for one in ranked[:top])
    facts = tuple(_held(fact, read.lines, casebase) for fact in found.values())
    misplaced = operands.shares(scene, {one.cause.id: one.confidence for one in ranked})
    return told._replace(
        facts=facts, causes=tuple(weighed), suspects=scene.suspects, misplaced=misplaced
    )


def _held(fact: Fact, lines: Sequence[Peeled], casebase: Casebase) -> Held:
    said = sentence(casebase.knowledge.facts[fact.id].text, fact.values)
    at = [line.text for line in lines if line.number == fact.line and line.text.strip()]
    return Held(fact, said, at[0] if len(at) == 1 else None)


def _errors(found: Found, report: Report) -> Iterator[Error]:
    """All errors, the one that is explained first."""
    chosen = report.error
    if chosen is not None:
        process = found.chosen.channel if found.chosen is not None else None
        yield Error(chosen.at, chosen.type, chosen.message, process, None)
    for failure in report.chain:
        yield Error(failure.at, failure.type, failure.message, None, _CHAINED)
    left = {id(candidate.trace) for candidate in found.standing}
    reasons = {id(one.trace): _GOT_OVER for one in found.all if id(one.trace) not in left}
    for those, against in selection.rounds(found.standing, found.first_rank):
        stay = {id(candidate.trace) for candidate in those}
        reasons |= dict.fromkeys(left - stay, against)
        left = stay
    if found.chosen is None:
        reasons |= dict.fromkeys(left, _ALL_WELL)
    for one in found.all:
        if (reason := reasons.get(id(one.trace))) is not None:
            trace = one.trace
            yield Error(trace.at, trace.type or "", trace.message, one.channel, reason)
