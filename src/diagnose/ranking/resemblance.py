"""Which documented incidents a description may be of: by its words, in the index of `diagnose explain`.

An incident scores for each notion of the text that it speaks of, the more the fewer incidents do: names of
libraries, models, files and functions decide. How far it stands before the others says how likely the
text is of it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress

from diagnose.casebase.index import StoredIncidents
from diagnose.casebase.notions import notions
from diagnose.casebase.search import Entry, Key, SearchError, holding, indexed
from diagnose.model import Incident, IncidentMatch, Report

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
_LEAST = 0.01
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


def _known(
    report: Report, text: str, incidents: Mapping[str, Incident]
) -> list[tuple[Incident, ...]]:
    """The incidents to compare, each in the language of the answer and then as it is compared: in all
    languages, in the same order whatever that of the answer is."""
    compared = [incidents]
    if isinstance(incidents, StoredIncidents):
        compared = [incidents.in_language(lang) for lang in ("en", "zh")]
    keys = list(incidents) if len(incidents) <= _MOST else _sharing(report, text, incidents)
    return [(incidents[key], *(one[key] for one in compared)) for key in keys]


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
    shares = ((round(power / total, 3), known[row][0]) for row, power in best)
    return [(share, incident) for share, incident in shares if share >= _LEAST]
