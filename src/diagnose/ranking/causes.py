"""Facts and neighbours to causes: a log-linear model whose numbers are readable in kb/.

score(cause) = log(prior) + sum of the weights of the facts that hold + what the words of the failure add +
weight of the nearest incident; the confidences are the softmax of the scores. See docs/ranking.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from diagnose.facts import AGAIN
from diagnose.model import Cause, Fact, IncidentMatch

#: Of the softmax: the facts overlap, so that their sum understates no more than it overstates.
TEMPERATURE = 0.6


class Maps(NamedTuple):
    """Intercept and slope in log-odds from the softmax's first share to how often such a first cause is a
    defensible one (Platt 1999), for the causes that can stand in for each other and for the others."""

    alike: tuple[float, float]
    other: tuple[float, float]


#: Causes that names and sides tell, and no message: each is mistaken for another of them more often than
#: its share says, in every set of reports that nobody had seen (docs/measurements.md).
ALIKE = frozenset(
    {
        *("input-not-moved", "module-not-moved", "submodule-added-after-move"),
        *("unregistered-submodule", "unregistered-tensor", "created-without-device"),
        "cross-shard-op",
    }
)
#: Fitted on labelled reports and lowered, because reports that nobody had seen were right less often.
CALIBRATION = Maps((0.7, 0.6), (1.45, 0.8))
#: The same of a traceback without carets: where they stand, more facts are read off one line, and their
#: sum says more than they do. Such answers were right more often at the same share (docs/measurements.md).
CALIBRATION_WITHOUT_CARETS = Maps((1.65, 0.8), (1.7, 0.8))
#: The same where a failure is shown by its message alone, which fits many causes.
CALIBRATION_OF_MESSAGES = Maps((0.2, 0.45), (0.2, 0.45))
#: The same where a failure is only described: what people say of it is less than what the program printed,
#: and words that go together are counted one by one. Fitted on the incidents' own texts, each read by the
#: words of those of other repositories, and raised, since a neighbouring cause is often as right.
CALIBRATION_OF_WORDS = Maps((0.1, 0.3), (0.1, 0.3))
#: What the odds lose, as a logarithm, where only a form of the grammar reads the message: a form knows less
#: of it than a wording of its own.
OF_A_FORM = 0.4
#: What an incident that matches fully adds to its cause's score; below FLOOR it adds nothing.
INCIDENT_WEIGHT = 2.0
INCIDENT_FLOOR = 0.8
#: What an incident adds that is the same failure again: more than all other facts together.
AGAIN_WEIGHT = 12.0
#: What an incident adds that a description is surely of.
DESCRIPTION_WEIGHT = 2.0
#: The best cause must reach this confidence, or the verdict is ``unknown``: below it about every second
#: first cause was wrong.
THRESHOLD = 0.6
#: A fact of less weight than this is no evidence worth a line.
SUPPORT = 0.3
#: A fact that says less than this more for one cause than for another does not tell the two apart.
DECIDES = 0.5
#: Terms of a documented incident.
_RESEMBLES = frozenset({"incident", "description"})


#: How the words' term is called where terms are listed.
_OF_LINES = "of its lines and calls"
_NONE: Mapping[str, float] = MappingProxyType({})


class Term(NamedTuple):
    """What one thing adds to a cause's score: its prior (``id`` is the cause's), a fact that holds, the
    words of the failure, or the nearest of its incidents (``description`` where its words alone tell that
    it is near)."""

    kind: Literal["prior", "fact", "words", "incident", "description"]
    id: str
    value: float


class Scored(NamedTuple):
    """A cause with its confidence, the facts that speak for it (strongest first), its incidents, and the
    terms that add up to its score."""

    cause: Cause
    confidence: float
    support: tuple[Fact, ...]
    incidents: tuple[IncidentMatch, ...]
    terms: tuple[Term, ...] = ()

    @property
    def score(self) -> float:
        """In log-odds."""
        return _total(self.terms)


def is_decided(ranked: Sequence[Scored]) -> bool:
    """Whether something at hand tells the first cause from the second: a fact that says clearly more for
    it, or a documented incident that the report resembles. The rest is how often each is seen.

    Args:
        ranked: causes, most likely first.
    """
    first, *others = ranked
    if not others or not _RESEMBLES.isdisjoint(term.kind for term in first.terms):
        return True
    said, rival = _of_facts(first), _of_facts(others[0])
    return any(
        said.get(fact.id, 0.0) - rival.get(fact.id, 0.0) >= DECIDES for fact in first.support
    )


def _of_facts(scored: Scored) -> Mapping[str, float]:
    return {term.id: term.value for term in scored.terms if term.kind == "fact"}


def calibration(*, described: bool, alone: bool, carets: bool, formed: bool = False) -> Maps:
    """The maps of the confidence, by what a report holds.

    Args:
        described: there was no traceback, but somebody's words.
        alone: there was the message alone.
        carets: the traceback underlines what failed.
        formed: no wording knew the message, but a form of the grammar.
    """
    if described:
        maps = CALIBRATION_OF_WORDS
    elif alone:
        maps = CALIBRATION_OF_MESSAGES
    else:
        maps = CALIBRATION if carets else CALIBRATION_WITHOUT_CARETS
    if not formed:
        return maps
    return Maps(*((intercept - OF_A_FORM, slope) for intercept, slope in maps))


def rank(
    facts: Mapping[str, Fact],
    matches: Sequence[IncidentMatch],
    causes: Mapping[str, Cause],
    words: Mapping[str, float] = _NONE,
    maps: Maps = CALIBRATION,
) -> tuple[Scored, ...]:
    """All causes, most likely first; the confidences add up to 1.

    Args:
        facts: those that hold.
        matches: the incidents that resemble the report.
        causes: all that there are.
        words: what the words of the failure add to each cause; nothing to one that is missing.
        maps: those of the first one's confidence (`calibration`).
    """
    by_cause: dict[str, list[IncidentMatch]] = {}
    for match in matches:
        by_cause.setdefault(match.cause, []).append(match)
    adding = {
        cause.id: terms(cause, facts, by_cause.get(cause.id, ()), words)
        for cause in causes.values()
    }
    scores = {key: _total(its) for key, its in adding.items()}
    shares = softmax(scores, TEMPERATURE)
    first = max(shares, key=lambda key: shares[key], default=None)
    confidences = calibrated(shares, maps.alike if first in ALIKE else maps.other)
    return tuple(
        Scored(
            causes[key],
            confidence,
            _support(causes[key], facts),
            tuple(by_cause.get(key, ())[:3]),
            adding[key],
        )
        for key, confidence in sorted(confidences.items(), key=lambda item: (-item[1], item[0]))
    )


def terms(
    cause: Cause,
    facts: Mapping[str, Fact],
    matches: Sequence[IncidentMatch],
    words: Mapping[str, float],
) -> tuple[Term, ...]:
    """The terms of a cause's score; ``matches`` are those of its own incidents."""
    held = [Term("fact", key, weight) for key, weight in cause.weights.items() if key in facts]
    learned = words.get(cause.id)
    said = [Term("words", _OF_LINES, round(learned, 2))] if learned else []
    return (Term("prior", cause.id, math.log(cause.prior)), *held, *said, *_boost(matches))


def _total(some: Sequence[Term]) -> float:
    return math.fsum(term.value for term in some)


def likely(matches: Sequence[IncidentMatch], ranked: Sequence[Scored]) -> tuple[IncidentMatch, ...]:
    """The incidents worth reading first: alike, and of a likely cause."""
    sure = {scored.cause.id: scored.confidence for scored in ranked}
    return tuple(sorted(matches, key=lambda m: -m.similarity * sure.get(m.cause, 0.0)))


def softmax(scores: Mapping[str, float], temperature: float) -> dict[str, float]:
    """Probabilities from scores in log-odds."""
    top = max(scores.values(), default=0.0)
    powers = {key: math.exp((score - top) / temperature) for key, score in scores.items()}
    total = sum(powers.values())
    return {key: power / total for key, power in powers.items()}


def calibrated(shares: Mapping[str, float], line: tuple[float, float]) -> dict[str, float]:
    """The shares with the first one mapped to how often it proves right; the others divide the rest in
    proportion. The order stays, and the sum of 1, unless the first would fall behind: then nothing
    changes."""
    first = max(shares, key=lambda key: shares[key], default=None)
    if first is None or not 0 < shares[first] < 1:
        return dict(shares)
    intercept, slope = line
    share = shares[first]
    odds = math.exp(intercept) * (share / (1 - share)) ** slope
    confidence = odds / (1 + odds)
    rest = (1 - confidence) / (1 - share)
    if any(value * rest > confidence for key, value in shares.items() if key != first):
        return dict(shares)
    return {key: confidence if key == first else value * rest for key, value in shares.items()}


def _boost(matches: Sequence[IncidentMatch]) -> list[Term]:
    """What the nearest incident of a cause adds to its score, if it is near enough."""
    best = max(matches, key=lambda match: match.similarity, default=None)
    if best is not None and best.by == "words":
        return [Term("description", best.id, DESCRIPTION_WEIGHT * best.similarity)]
    if best is None or best.similarity <= INCIDENT_FLOOR:
        return []
    if best.similarity >= AGAIN:
        return [Term("incident", best.id, AGAIN_WEIGHT)]
    share = (best.similarity - INCIDENT_FLOOR) / (1 - INCIDENT_FLOOR)
    return [Term("incident", best.id, INCIDENT_WEIGHT * share)]


def _support(cause: Cause, facts: Mapping[str, Fact]) -> tuple[Fact, ...]:
    """The facts that speak for a cause, strongest first."""
    held = [
        (weight, fact)
        for key, fact in facts.items()
        if (weight := cause.weights.get(key, 0.0)) >= SUPPORT
    ]
    return tuple(fact for _, fact in sorted(held, key=lambda pair: -pair[0]))
