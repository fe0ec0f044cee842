"""The one way from an input to an answer; every door (command line, web, hooks) goes through here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from types import MappingProxyType

from diagnose import facts as fact_stage
from diagnose.advice import advise
from diagnose.bulkhead import collecting, guarded, missing
from diagnose.casebase.store import Casebase, load
from diagnose.errors import DiagnoseError, printable
from diagnose.facts import known_again
from diagnose.fixes import for_cause
from diagnose.fixes.lines import edited
from diagnose.fixes.releases import known_bugs
from diagnose.model import (
    DEVICE_FAMILY,
    Basis,
    Cause,
    Diagnosis,
    Evidence,
    Fact,
    FactRule,
    Frame,
    IncidentMatch,
    Lang,
    Line,
    Met,
    RankedCause,
    Report,
    Verdict,
)
from diagnose.parsing import parse, parse_stream
from diagnose.parsing.bytestream import ByteStream
from diagnose.patterns import bare
from diagnose.placeholders import sentence, values
from diagnose.ranking.causes import THRESHOLD, Scored, is_decided, likely
from diagnose.ranking.neighbours import nearest
from diagnose.ranking.questions import Answers, answered, ask
from diagnose.ranking.weights import ranking, with_others
from diagnose.scene import Place, Scene, operands
from diagnose.scene.live import is_seen
from diagnose.scene.scene import Look
from diagnose.sources import Sources
from diagnose.verification.snippet import snippet

#: Causes below this confidence are not worth a reader's time.
_WORTH_SHOWING = 0.005
_MAX_EVIDENCE = 4
#: Of four digits: nothing that an answer lists is impossible.
_LEAST = 0.0001
_NONE: Answers = MappingProxyType({})


def diagnose(
    data: bytes | str | ByteStream,
    source: str = "-",
    *,
    casebase: Casebase | None = None,
    top: int = 3,
    sources: Sources | None = None,
    answers: Answers = _NONE,
) -> Diagnosis:
    """Reads a pasted traceback or a log and answers.

    A fault of our own is no exception: the answer lacks a piece (`Diagnosis.incomplete`) or has the
    verdict ``failed``.

    Args:
        data: the input, whatever it is; a binary stream of any length is read in bounded memory.
        source: its name in the answer, ``-`` for standard input.
        casebase: the case base, in the language of the answer; the built-in one in English if None.
        top: how many causes the answer holds at most.
        sources: finds the files that the traceback names; none are read if None.
        answers: what is answered to questions of an earlier answer: id -> number of the reply, from 0.

    Raises:
        CasebaseError: the case base cannot be read.
        OSError: the stream cannot be read.
    """
    casebase = casebase or load()
    with collecting() as pieces:
        try:
            if isinstance(data, bytes | str):
                report = parse(data, source, knowledge=casebase.knowledge)
            else:
                report = parse_stream(data, source, knowledge=casebase.knowledge)
        except (DiagnoseError, OSError):  # of the stream
            raise
        except Exception as error:
            return failed(Report(source), "parsing", error, casebase.lang)
    diagnosis = explain(report, casebase=casebase, top=top, sources=sources, answers=answers)
    return diagnosis._replace(incomplete=(*pieces, *diagnosis.incomplete))


def explain(
    report: Report,
    *,
    casebase: Casebase | None = None,
    top: int = 3,
    sources: Sources | None = None,
    look: Look | None = None,
    answers: Answers = _NONE,
) -> Diagnosis:
    """Answers for a report that is already parsed.

    Args:
        report: what was parsed.
        casebase: as in `diagnose`.
        top: as in `diagnose`.
        sources: as in `diagnose`; for this report only.
        look: asks a live process for the tensors of the failing frames, where it is a device failure.
        answers: as in `diagnose`.

    Raises:
        CasebaseError: the case base cannot be read.
    """
    casebase = casebase or load()
    error = report.error
    if error is None:
        return Diagnosis(report, "no-error", lang=casebase.lang)
    device = error.family == DEVICE_FAMILY
    report = report._replace(frames=tuple(map(_quoted, report.frames)))
    with collecting() as pieces:
        if sources is not None:
            report = guarded("sources", partial(sources.claimed, report), report)
        scene = Scene(report, casebase.knowledge, sources, look if device else None)
        if device or scene.is_fixed:
            placed = error._replace(family=DEVICE_FAMILY)
            scene.report = scene.report._replace(error=placed)
            diagnosis = _device(scene, casebase, top, answers)
        else:
            diagnosis = _other(scene, casebase)
    diagnosis = diagnosis._replace(incomplete=(*pieces, *diagnosis.incomplete))
    if sources is None:
        return diagnosis
    used = tuple(printable(file.path) for file in sources.used)
    return diagnosis._replace(sources=used, unused=sources.unused)


def _quoted(frame: Frame) -> Frame:
    """The frame with its source as an answer quotes it."""
    code, said = bare(frame.code or ""), frame.statement
    quoted = said._replace(text=bare(said.text)) if said is not None and not said.raw else said
    return frame._replace(code=code or None, statement=quoted)


def failed(
    report: Report, stage: str, error: BaseException, lang: Lang, scene: Scene | None = None
) -> Diagnosis:
    """The answer where a stage failed: what had been read until then."""
    culprit = guarded("culprit", partial(_culprit, scene), None)
    return Diagnosis(report, "failed", culprit, lang=lang, incomplete=(missing(stage, error),))


def _culprit(scene: Scene | None, cause: Cause | None = None) -> Frame | None:
    place = _place(scene, cause) if scene is not None else None
    return place.frame if place is not None else None


def _place(scene: Scene, cause: Cause | None) -> Place | None:
    """The line to edit for a cause: where the files tell, the one that defines the misplaced value."""
    if cause is None:
        return scene.line_to_edit()
    return scene.definition(cause.id) or scene.line_to_edit(cause.edits)


def _named(scene: Scene, cause: Cause | None, causes: Sequence[RankedCause]) -> Frame | None:
    """The line to edit, as the first edit has it."""
    return edited(_culprit(scene, cause), causes[0].fixes if causes else ())


def _around(scene: Scene, cause: Cause | None, named: Frame | None) -> tuple[Line, ...]:
    place = _place(scene, cause)
    if named is not None and (place is None or named != place.frame):
        place = scene.place(named)
    return scene.around(place) if place is not None else ()


def _other(scene: Scene, casebase: Casebase) -> Diagnosis:
    """The answer to a failure of another family."""
    culprit = guarded("culprit", partial(_culprit, scene), None)
    sentences = guarded("advice", lambda: advise(scene.report, casebase.advice()), ())
    site = guarded("site", partial(_site, scene), None)
    report = scene.report._replace(mismatch=None)
    return Diagnosis(report, "unknown", culprit, lang=casebase.lang, advice=sentences, site=site)


def _device(scene: Scene, casebase: Casebase, top: int, answers: Answers) -> Diagnosis:
    """The answer to a device-placement failure."""
    report, stage = scene.report, "facts"
    try:
        found = fact_stage.read(scene)
        stage = "ranking"
        matches = guarded("nearest", lambda: nearest(report, casebase.incidents), ())
        ranked = ranking(scene, found, matches, casebase)
        if answers:
            ranked = answered(ranked, answers, casebase.questions())
    except DiagnoseError:
        raise
    except Exception as error:
        return failed(report, stage, error, casebase.lang, scene)
    if report.description is not None:
        matches, ranked = guarded(
            "nearest", lambda: _fitting(matches, ranked, report, casebase), ((), ranked)
        )
    known = guarded("values", lambda: values(scene, found), dict[str, str]())
    shown = tuple(one for one in ranked[:top] if one.confidence >= _WORTH_SHOWING)
    others = guarded("doubts", partial(with_others, scene, ranked, matches, casebase, answers), ())
    causes = tuple(
        _answer(scored, ranked[0], scene, found, known, casebase)
        for scored in (others[:top] or shown)
    )
    if causes and causes[0].id == ranked[0].cause.id and scene.suspect(causes[0].id) is None:
        causes = (causes[0]._replace(decided=is_decided(ranked)), *causes[1:])
    verdict: Verdict = "diagnosed" if ranked and ranked[0].confidence >= THRESHOLD else "unknown"
    questions = guarded(
        "questions", lambda: ask(ranked, scene, found, known, casebase, answers), ()
    )
    near = guarded("nearest", lambda: likely(matches, ranked), ())
    if report.description is not None:  # nearness to a description counts the cause already
        near = tuple(matches)
    first = ranked[0].cause if ranked else None
    named = guarded("culprit", partial(_named, scene, first, causes), None)
    return Diagnosis(
        report,
        verdict,
        named,
        causes,
        near[:3],
        casebase.lang,
        questions,
        around=guarded("around", partial(_around, scene, first, named), ()),
        basis=guarded("culprit/basis", partial(_basis, scene, first, named), "trace"),
        site=guarded("site", partial(_site, scene), None),
        met=guarded("operands", partial(_met, scene, first), ()),
        remedy=guarded("remedy", partial(_remedy, scene), ""),
    )


def _remedy(scene: Scene) -> str:
    """What the message asks for, as its wording is known to: anybody may write more into a log."""
    error, mismatch = scene.report.error, scene.report.mismatch
    said = " ".join(error.message.split()).casefold() if error is not None else ""
    remedies = (
        one
        for wording in scene.knowledge.wordings
        if mismatch is not None and wording.id == mismatch.wording
        for one in wording.remedies
    )
    return next((one for one in remedies if one.casefold() in said), "")


def _fitting(
    matches: Sequence[IncidentMatch], ranked: Sequence[Scored], report: Report, casebase: Casebase
) -> tuple[tuple[IncidentMatch, ...], tuple[Scored, ...]]:
    """The incidents that fit a description, and the causes with theirs."""
    from diagnose.ranking.resemblance import fitting  # a traceback has no need of it

    sure = {one.cause.id: one.confidence for one in ranked}
    near = fitting(matches, report, sure, casebase)
    its = ([match for match in near if match.cause == one.cause.id] for one in ranked)
    return near, tuple(
        one._replace(incidents=tuple(found[:3])) for one, found in zip(ranked, its, strict=True)
    )


def _site(scene: Scene) -> Frame | None:
    return scene.site.frame if scene.site is not None else None


def _met(scene: Scene, cause: Cause | None) -> tuple[Met, ...]:
    return operands.operands(scene, scene.suspect(cause.id) if cause is not None else None)


def _basis(scene: Scene, cause: Cause | None, named: Frame | None) -> Basis:
    """What the line to edit rests on."""
    if named != _culprit(scene, cause):
        return "source"
    suspect = scene.suspect(cause.id) if cause is not None else None
    if suspect is None:
        return "trace"
    return "live" if is_seen(suspect, scene.seen) else "source"


def _answer(
    scored: Scored,
    best: Scored,
    scene: Scene,
    found: dict[str, Fact],
    known: Mapping[str, str],
    casebase: Casebase,
) -> RankedCause:
    cause = scored.cause
    rules = casebase.knowledge.facts
    culprit = guarded(f"{cause.id}/culprit", partial(_culprit, scene, cause), None)
    return RankedCause(
        id=cause.id,
        title=cause.title,
        why=cause.why,
        confidence=max(round(scored.confidence, 4), _LEAST),
        evidence=guarded(
            f"{cause.id}/evidence", lambda: _shown_evidence(scored, scene.report, rules), ()
        ),
        incidents=scored.incidents,
        fixes=guarded(f"{cause.id}/fixes", lambda: for_cause(cause, scene, found, known), ()),
        verification=guarded(
            f"{cause.id}/verification", lambda: snippet(cause, scene.report, culprit, casebase), ""
        ),
        rather=best.cause.rather.get(cause.id),
        gpus=cause.gpus,
        bugs=guarded(
            f"{cause.id}/bugs",
            lambda: known_bugs(scored.incidents, scene.report, casebase.incidents),
            (),
        ),
    )


def _shown_evidence(
    scored: Scored, report: Report, rules: Mapping[str, FactRule]
) -> tuple[Evidence, ...]:
    facts = (*known_again(report, scored.incidents), *scored.support)
    return tuple(islice(_evidence(facts, rules), _MAX_EVIDENCE))


def _evidence(support: Iterable[Fact], rules: Mapping[str, FactRule]) -> Iterator[Evidence]:
    """The sentences of facts; one that would need a value that the report lacks is left out."""
    for fact in support:
        text = sentence(rules[fact.id].text, fact.values)
        if text is not None:
            yield Evidence(text, fact.line)
