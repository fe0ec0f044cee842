"""How much a report resembles a documented incident: frames, message and libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

from rapidfuzz import fuzz, process

from diagnose.casebase.index import StoredIncidents, documented
from diagnose.casebase.signature import Signature, of_report
from diagnose.model import Incident, IncidentMatch, Report

# Shares of the parts in the similarity; the frames say most about what the code was doing.
_FRAMES, _MESSAGE, _LIBRARIES = 0.5, 0.3, 0.2
#: An incident that documents less than this share is never wholly alike.
_DOCUMENTED = 0.8
_similarity = attrgetter("similarity")


def nearest(report: Report, incidents: Mapping[str, Incident]) -> tuple[IncidentMatch, ...]:
    """The incidents with their similarity to the report, from 0 to 1, best first.

    All of them, or of a large case base those that its index names; where a failure is only described,
    those that speak of the same. A part that an incident does not
    document (no frames, no message) does not count against it.

    Raises:
        CasebaseError: the incidents stand in a database that cannot be read.
    """
    if report.error is None:
        return ()
    if report.description is not None:
        from diagnose.ranking.resemblance import resembling  # a traceback has no need of it

        return resembling(report, incidents)
    if isinstance(incidents, StoredIncidents):
        known = incidents.candidates(report)
    else:
        known = tuple(documented(incident) for incident in incidents.values())
    # An incident is as near as its documentation or its recorded traceback, whichever is nearer.
    sides = [one.signature for one in known] + [one.recorded for one in known if one.recorded]
    scores = similarity(of_report(report), sides)
    recorded = iter(scores[len(known) :])
    matches = [
        IncidentMatch(
            one.id,
            one.title,
            one.url,
            score if one.recorded is None else max(score, next(recorded)),
            one.cause,
        )
        for one, score in zip(known, scores, strict=False)
    ]
    matches.sort(key=_similarity, reverse=True)
    return tuple(matches)


def similarity(mine: Signature, theirs: Sequence[Signature]) -> list[float]:
    """How much each of ``theirs`` resembles ``mine``, rounded to thousandths."""
    by_frames = _ratios(mine.frames, [one.frames for one in theirs])
    by_message = _ratios(mine.message, [one.message for one in theirs])
    overlaps: dict[frozenset[str], float] = {}
    found = []
    for one, frames, message in zip(theirs, by_frames, by_message, strict=True):
        score = total = 0.0
        if mine.frames and one.frames:
            score, total = _FRAMES * frames, _FRAMES
        if one.message:
            score, total = score + _MESSAGE * message, total + _MESSAGE
        if mine.libraries or one.libraries:
            if one.libraries not in overlaps:
                overlaps[one.libraries] = _overlap(mine.libraries, one.libraries)
            score += _LIBRARIES * overlaps[one.libraries]
            total += _LIBRARIES
        found.append(round(score / (total if total > _DOCUMENTED else _DOCUMENTED), 3))
    return found


def _ratios(query: str, choices: Sequence[str]) -> list[float]:
    """RapidFuzz's ratio, from 0 to 1, for each choice, in their order.

    The frames of signatures are sorted words, so that this is their token_sort_ratio. Many messages are
    the same: each text is compared once.
    """
    if not query:
        return [0.0] * len(choices)
    texts = list(dict.fromkeys(choices))
    found = process.extract(query, texts, scorer=fuzz.ratio, limit=None)
    scores = {text: score / 100 for text, score, _ in found}
    return [scores[text] for text in choices]


def _overlap(one: frozenset[str], two: frozenset[str]) -> float:
    """Jaccard similarity."""
    return 0.0 if one.isdisjoint(two) else len(one & two) / len(one | two)
