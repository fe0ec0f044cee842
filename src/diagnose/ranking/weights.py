"""All causes of a failure by what a scene shows, and what the traceback alone would say beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnose import facts
from diagnose.bulkhead import guarded
from diagnose.casebase.store import Casebase
from diagnose.facts.words import experience
from diagnose.model import Fact, IncidentMatch
from diagnose.ranking.causes import Scored, calibration, rank
from diagnose.ranking.doubt import doubted
from diagnose.ranking.questions import Answers, answered
from diagnose.scene import Scene


def ranking(
    scene: Scene, found: Mapping[str, Fact], matches: Sequence[IncidentMatch], casebase: Casebase
) -> tuple[Scored, ...]:
    """All causes of a device failure, by its facts, its words and the incidents that resemble it."""
    learned = guarded("words", lambda: experience(scene), dict[str, float]())
    report, mismatch = scene.report, scene.report.mismatch
    maps = calibration(
        described=report.description is not None,
        alone=not report.frames,
        carets=scene.has_carets,
        formed=mismatch is not None and mismatch.formed,
    )
    return rank(found, matches, casebase.causes, learned, maps)


def with_others(
    scene: Scene,
    ranked: Sequence[Scored],
    matches: Sequence[IncidentMatch],
    casebase: Casebase,
    answers: Answers,
) -> tuple[Scored, ...]:
    """The causes with the next likely ones by the traceback alone, where files or a process show the value:
    a first cause that is wrong would have no other beside it. Nothing where the traceback is all there
    is."""
    if not scene.suspects:
        return ()
    alone = Scene(scene.report._replace(tensors=(), operands=()), casebase.knowledge)
    traced = ranking(alone, facts.read(alone), matches, casebase)
    if answers:
        traced = answered(traced, answers, casebase.questions())
    return doubted(ranked, traced)
