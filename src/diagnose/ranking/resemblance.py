"""Which documented incidents a description may be of: by its words, in the index of `diagnose explain`.

An incident scores for each notion of the text that it speaks of, the more the fewer incidents do: names of
libraries, models, files and functions decide. How far it stands before the others says how likely the
text is of it, and supports its cause (`resembling`). Which are shown is another question, since most texts
are of none: those of a likely cause, of the same library, of which the same is said (`fitting`).
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from itertools import pairwise

from diagnose.casebase.index import StoredIncidents
from diagnose.casebase.notions import notions
from diagnose.casebase.search import Entry, Key, SearchError, holding, indexed
from diagnose.casebase.store import Casebase
from diagnose.model import Incident, IncidentMatch, Report
from diagnose.naming.descriptions import words_of

#: So much of a text is looked up, in characters: each notion of it is a query of its own.
_LONGEST = 6000
#: Of a case base with more incidents only those are compared that share rare words.
_MOST = 1000
#: The part of a notion's weight that an incident gets for speaking of it at all; the rest is for how much.
_MENTIONED = 0.5
#: Exponent of a notion's rarity: above 1, since common words add up in a long text.
_RARITY = 1.5
#: What two neighbouring characters of Chinese weigh, which may be parts of two words.
_OF_PAIR = 0.5
#: An incident whose score is higher by so much is e times as likely.
_STEP = 8.0
_LEAST = 0.0001
#: In log-odds that an incident fits: its cause's confidence (a logarithm), a library that both name, how
#: much is said of the same mechanism (a cosine); and what there is without.
_OF_CAUSE, _OF_LIBRARY, _OF_MECHANISM, _OF_NONE = 0.54, 2.32, 29.0, -5.62
#: Odds, and of the texts that no incident fits the share whose nearest one has less. Both were fitted on
#: pairs of incidents of different repositories, each read in one language, of which those fit that share
#: the cause, a library if they name any, and much of what is said of the mechanism.
_LESS = (
    (-6.0, 0.0),
    (-3.1, 0.5),
    (-2.49, 0.7),
    (-2.13, 0.8),
    (-1.36, 0.9),
    (-0.83, 0.95),
    (0.0, 0.98),
    (2.0, 1.0),
)
#: An incident of a lower share is not shown, and one of a less likely cause not looked at.
_FITS, _LIKELY = 0.85, 0.02
_NAME = re.compile(r"[a-z_]\w{2,39}", re.ASCII)


def resembling(report: Report, incidents: Mapping[str, Incident]) -> tuple[IncidentMatch, ...]:
    """The incidents with how likely the report's description is of each, most likely first.

    Empty where this Python's SQLite has no full-text search. Raises `CasebaseError` as the incidents do.
    """
    if report.description is None:
        return ()
    text = report.description.text[:_LONGEST]
    known = _known(report, text, incidents)
    with suppress(SearchError):
        scores = _scores(text, known)
        return tuple(
            IncidentMatch(one.id, one.title, one.url, share, one.cause, "words")
            for share, one in _shares(scores, known)
        )
    return ()


def fitting(
    matches: Sequence[IncidentMatch],
    report: Report,
    confidences: Mapping[str, float],
    casebase: Casebase,
) -> tuple[IncidentMatch, ...]:
    """The incidents that may well be of what is described, nearest first.

    Args:
        matches: what `resembling` found.
        report: a description, with the libraries that it names.
        confidences: how likely each cause is.
        casebase: the incidents, and the words of descriptions.

    Returns:
        The incidents; ``similarity`` is the share of descriptions that no incident fits whose nearest one
        is less near than this, or how likely the text is of this very incident where that is more.

    Raises:
        CasebaseError: the incidents stand in a database that cannot be read.
    """
    if report.description is None:
        return ()
    told, words = casebase.knowledge.descriptions(), report.description.words
    mine = frozenset(map(_plain, report.libraries))
    compared = _in_languages(casebase.incidents)
    found = []
    for match in matches:
        sure = confidences.get(match.cause, 0.0)
        if sure < _LIKELY:
            continue
        one = casebase.incidents[match.id]
        same = max(
            told.likeness(words, words_of(f"{its[one.id].title}\n{its[one.id].was}"))
            for its in compared
        )
        odds = _OF_NONE + _OF_CAUSE * math.log(sure) + _OF_MECHANISM * same
        odds += _OF_LIBRARY * (not mine.isdisjoint(map(_plain, one.libraries)))
        share = max(match.similarity, _less_near(odds))
        if share >= _FITS:
            found.append(match._replace(similarity=round(share, 3)))
    return tuple(sorted(found, key=lambda match: -match.similarity))


def _less_near(odds: float) -> float:
    """The share of texts that these odds are reached by, between the measured ones along a line."""
    for (low, least), (high, most) in pairwise(_LESS):
        if odds < high:
            return max(0.0, least + (most - least) * (odds - low) / (high - low))
    return 1.0


def _plain(library: str) -> str:
    return library.lower().replace("-", "_")


def _known(
    report: Report, text: str, incidents: Mapping[str, Incident]
) -> list[tuple[Incident, ...]]:
    """The incidents to compare, each in the language of the answer and then as it is compared: in all
    languages, in the same order whatever that of the answer is."""
    compared = _in_languages(incidents)
    keys = list(incidents) if len(incidents) <= _MOST else _sharing(report, text, incidents)
    return [(incidents[key], *(one[key] for one in compared)) for key in keys]


def _in_languages(incidents: Mapping[str, Incident]) -> list[Mapping[str, Incident]]:
    if isinstance(incidents, StoredIncidents):
        return [incidents.in_language(lang) for lang in ("en", "zh")]
    return [incidents]


def _sharing(report: Report, text: str, incidents: Mapping[str, Incident]) -> list[str]:
    """The incidents of a large case base that hold the rarest words; any word may be a library's name."""
    if not isinstance(incidents, StoredIncidents):
        return list(incidents)[:_MOST]
    names = tuple(dict.fromkeys(_NAME.findall(text.lower())))
    asked = report._replace(libraries=names)
    return [one.id for one in incidents.candidates(asked)]


def _scores(text: str, known: Sequence[tuple[Incident, ...]]) -> dict[int, float]:
    """For each incident, by its place, how much it speaks of what the text does."""
    scores: defaultdict[int, float] = defaultdict(float)
    translations: list[dict[Key, Entry]] = [
        {(Incident, one[0].id): one[place] for one in known}
        for place in range(2, len(known[0]) if known else 2)
    ]
    with closing(indexed([one[1] for one in known], translations)) as index:
        for notion in notions(text, _LONGEST).values():
            rows = holding(index, notion.phrases)
            weight = math.log(1 + len(known) / (len(rows) + 0.5)) ** _RARITY
            if notion.kind == "pair":
                weight *= _OF_PAIR
            most = max(rows.values(), default=1.0)
            for row, match in rows.items():
                scores[row] += weight * (_MENTIONED + (1 - _MENTIONED) * match / most)
    return scores


def _shares(
    scores: Mapping[int, float], known: Sequence[tuple[Incident, ...]]
) -> list[tuple[float, Incident]]:
    """The softmax of the scores, those worth telling."""
    top = max(scores.values(), default=0.0)
    powers = {row: math.exp((score - top) / _STEP) for row, score in scores.items()}
    total = sum(powers.values())
    best = sorted(powers.items(), key=lambda item: (-item[1], item[0]))
    shares = ((round(power / total, 4), known[row][0]) for row, power in best)
    return [(share, incident) for share, incident in shares if share >= _LEAST]
