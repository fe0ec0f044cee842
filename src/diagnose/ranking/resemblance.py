"""Which documented incidents a description may be of: by its words, in the index of `diagnose explain`.

An incident scores for each notion of the text that it speaks of, the more the fewer incidents do: names of
libraries, models, files and functions decide. How far it stands before the others says how likely the
text is of it, and supports its cause (`resembling`). Which are shown is another question, since most texts
are of none: those of a likely cause that share rare libraries and names of code with the text (`fitting`).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain

from diagnose.casebase.index import StoredIncidents
from diagnose.casebase.notions import notions
from diagnose.casebase.search import Entry, Key, SearchError, holding, indexed
from diagnose.casebase.store import Casebase
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
_LEAST = 0.0001
#: In log-odds that an incident is nearer to a text than any is to one that none fits: its cause's
#: confidence, how likely the text is of this very one (both as logarithms), how rare the rarest library is
#: that both name, and how rare the names of code are; and what there is without. Fitted on the texts of
#: incidents in either language, each read without those of its repository (docs/measurements.md).
_OF_CAUSE, _OF_SCORE, _OF_LIBRARY, _OF_NAMES, _OF_NONE = 1.16, 0.67, 0.76, 1.52, 1.76
#: An incident that is less near is not shown, and one of a less likely cause not looked at.
_FITS, _LIKELY = 0.75, 0.01
#: Names of code as people write them, and of options; abbreviations too.
_CODE = re.compile(
    r"--[a-z_-]+|[A-Za-z_][A-Za-z0-9]*(?:[_.][A-Za-z0-9_]+)+|[A-Z][a-z0-9]+[A-Z][a-zA-Z0-9]*|[A-Z]{3,}",
    re.ASCII,
)
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
        casebase: the incidents.

    Returns:
        The incidents; ``similarity`` is the share of descriptions that no incident fits whose nearest one
        is less near than this.

    Raises:
        CasebaseError: the incidents stand in a database that cannot be read.
    """
    if report.description is None:
        return ()
    mine = _told(report.libraries, report.description.text)
    (incidents, *_) = _in_languages(casebase.incidents)
    known = (incidents[match.id] for match in matches)
    theirs = {i.id: _told(i.libraries, i.title, i.saw, i.was, i.mended) for i in known}
    rarity = [
        {name: math.log(len(theirs) / count) for name, count in Counter(chain(*names)).items()}
        for names in zip(*theirs.values(), strict=True)
    ]
    found = []
    for match in matches:
        sure = confidences.get(match.cause, 0.0)
        if sure < _LIKELY:
            continue
        libraries, names = (
            [rare[name] for name in one & other]
            for rare, one, other in zip(rarity, mine, theirs[match.id], strict=True)
        )
        odds = _OF_NONE + _OF_CAUSE * math.log(sure) + _OF_SCORE * math.log(match.similarity)
        odds += _OF_LIBRARY * max(libraries, default=0.0) + _OF_NAMES * math.log1p(math.fsum(names))
        near = 1 / (1 + math.exp(-odds))
        if near >= _FITS:
            found.append(match._replace(similarity=round(near, 3)))
    return tuple(sorted(found, key=lambda match: -match.similarity))


def _told(libraries: Iterable[str], *texts: str) -> tuple[frozenset[str], frozenset[str]]:
    """Libraries as they are compared, and the names of code in texts, of a dotted one the last part."""
    plain = (name.lower().replace("-", "_") for name in libraries)
    code = (name.strip(".").split(".")[-1].lower() for name in _CODE.findall("\n".join(texts)))
    return frozenset(plain) - {"torch"}, frozenset(code)


def _known(
    report: Report, text: str, incidents: Mapping[str, Incident]
) -> list[tuple[Incident, ...]]:
    """The incidents to compare, each in the language of the answer and then as it is compared: in all
    languages, in the same order whatever that of the answer is."""
    compared = _in_languages(incidents)
    keys = list(incidents) if len(incidents) <= _MOST else _sharing(report, text, incidents)
    return [(incidents[key], *(one[key] for one in compared)) for key in keys]


def _in_languages(incidents: Mapping[str, Incident]) -> list[Mapping[str, Incident]]:
    if not isinstance(incidents, StoredIncidents):
        return [incidents]
    known = (incidents.in_language(lang) for lang in ("en", "zh"))
    return [one if len(incidents) > _MOST else dict(one.items()) for one in known]


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
