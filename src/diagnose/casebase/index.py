"""The incidents of a case base where they stand: looked up one by one, and by what resembles them.

A small case base is compared with a report as a whole. In a large one the database's own full-text
index (FTS5; a tsvector with GIN) names the incidents that share the report's rarest terms, and only
those are compared. The work is bounded whatever the case base's size: at most `LIMIT` incidents are
compared, and about `POSTINGS` entries of the index are read for each group of terms.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from diagnose.casebase import signature
from diagnose.casebase.connection import Database, decoded
from diagnose.casebase.signature import Signature
from diagnose.model import Incident, Lang, Recording, Release, Report, Source

#: How many incidents are compared exactly with a report.
LIMIT = 96
#: A case base up to this size is compared as a whole.
SMALL = 512
#: How many entries of the index may be read for each group of terms, and how many terms looked up.
POSTINGS = 2000
TERMS = 8

_SIGNATURE = (
    "SELECT s.incident_id, t.title, s.url, s.cause_id, s.frames, s.message, s.libraries,"
    " s.recorded_frames, s.recorded_message, s.recorded_libraries"
    " FROM incident_signature s JOIN incident_text t ON t.incident_id = s.incident_id"
)
#: The incidents that hold one term, for each kind of database.
_HOLDING = {
    "sqlite": (
        "SELECT rowid AS position, CAST(:weight{0} AS integer) AS weight FROM incident_index"
        " WHERE incident_index MATCH :term{0}",
        '"{}"',
    ),
    "postgresql": (
        "SELECT position, CAST(:weight{0} AS integer) AS weight FROM incident_signature"
        " WHERE lexemes @@ CAST(:term{0} AS tsquery)",
        "'{}'",
    ),
}


class Documented(NamedTuple):
    """What the comparison needs of an incident: as documented, and as its program printed it."""

    id: str
    title: str
    url: str
    cause: str
    signature: Signature
    recorded: Signature | None = None


def documented(incident: Incident) -> Documented:
    """The same of an incident in memory."""
    return Documented(
        incident.id,
        incident.title,
        incident.url,
        incident.cause,
        signature.of_incident(incident),
        signature.of_recording(incident.recorded) if incident.recorded else None,
    )


class StoredIncidents(Mapping[str, Incident]):
    """The incidents of a case base in one language, in its order; read when they are asked for.

    Changes by others are seen at once: what is kept in memory is kept for a revision of the case base.
    All methods may raise `CasebaseError`.
    """

    def __init__(self, database: Database, lang: Lang) -> None:
        self._database = database
        self._lang = lang
        self._revision: str | None = None
        self._last = 0
        #: All incidents of a small case base, () of a large one, None where that is not known.
        self._few: tuple[Documented, ...] | None = None
        self._all: dict[str, Incident] | None = None

    def __getitem__(self, key: str) -> Incident:
        self._refresh()
        if self._few or self._all is not None:
            return self._whole()[key]
        for incident in _incidents(self._database, self._lang, key):
            return incident
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        ((count,),) = self._database.rows("SELECT count(*) FROM incident")
        return int(count)

    def in_language(self, lang: Lang) -> StoredIncidents:
        """The same incidents in a language."""
        return self if lang == self._lang else StoredIncidents(self._database, lang)

    def candidates(self, report: Report, *, limit: int = LIMIT) -> tuple[Documented, ...]:
        """The incidents worth comparing with a report, in their order: all of a small case base, else
        about ``limit`` that share most of the report's rarest terms."""
        self._refresh()
        if self._few is None:
            first = self._signatures(
                " WHERE lang = :lang ORDER BY position LIMIT :limit", limit=SMALL + 1
            )
            self._few = first if len(first) <= SMALL else ()
        return self._few or self._by_terms(report, limit)

    def releases(self, ids: Sequence[str]) -> dict[str, tuple[Release, ...]]:
        """The releases with a bug that some incidents name; those that name none are left out."""
        names = {f"i{number}": key for number, key in enumerate(ids)}
        marks = ", ".join(f":{name}" for name in names)
        return _releases(self._database, f" WHERE incident_id IN ({marks})", names)

    def _by_terms(self, report: Report, limit: int) -> tuple[Documented, ...]:
        """An equal share of them for each group of the report's terms."""
        mismatch = report.mismatch
        op, argument = (mismatch.op, mismatch.argument) if mismatch else (None, None)
        groups = signature.wanted_terms(signature.of_report(report), op, argument)
        holders = self._holders({term for group in groups for term in group})
        holding, quoted = _HOLDING[self._database.dialect]
        values: dict[str, int | str] = {"limit": -(-limit // len(groups))}
        named: list[str] = []
        for group in groups:
            union: list[str] = []
            for term in _rarest(group, holders):
                number = len(union) + TERMS * len(named)
                # Thousandths of a bit, as integers: a sum must not depend on the order of adding.
                weight = round(1000 * math.log2(1 + self._last / holders[term]))
                values |= {f"term{number}": quoted.format(term), f"weight{number}": weight}
                union.append(holding.format(number))
            if union:
                named.append(
                    f"SELECT position FROM (SELECT position FROM ({' UNION ALL '.join(union)}) AS hits"
                    " GROUP BY position ORDER BY sum(weight) DESC, position LIMIT :limit) AS best"
                )
        if not named:
            return ()
        return self._signatures(
            f" WHERE lang = :lang AND s.position IN ({' UNION '.join(named)}) ORDER BY s.position",
            **values,
        )

    def _holders(self, terms: Collection[str]) -> dict[str, int]:
        """How many incidents hold each of the terms; those that none holds are left out."""
        names = {f"t{number}": term for number, term in enumerate(terms)}
        return dict(
            self._database.rows(
                "SELECT term, documents FROM incident_term WHERE documents > 0 AND term IN"
                f" ({', '.join(':' + name for name in names)})",
                **names,
            )
        )

    def _signatures(self, rest: str, **values: int | str) -> tuple[Documented, ...]:
        rows = self._database.rows(_SIGNATURE + rest, lang=self._lang, **values)
        return tuple(
            Documented(
                key,
                title,
                url,
                cause,
                Signature(frames, message, frozenset(libraries.split())),
                Signature(printed, said, frozenset(used.split())) if printed else None,
            )
            for key, title, url, cause, frames, message, libraries, printed, said, used in rows
        )

    def _refresh(self) -> None:
        """Forgets what was read before the last change."""
        if self._revision is not None and self._database.immutable:
            return
        ((revision, last),) = self._database.rows(
            "SELECT (SELECT value FROM meta WHERE key = 'revision'),"
            " (SELECT max(position) FROM incident_signature)"
        )
        revision, self._last = revision or "", (last or 0) + 1
        if revision != self._revision:
            self._revision, self._few, self._all = revision, None, None

    def _whole(self) -> dict[str, Incident]:
        """All incidents, read in one go: for those who go through all of them."""
        self._refresh()
        if self._all is None:
            self._all = {i.id: i for i in _incidents(self._database, self._lang)}
        return self._all


def _rarest(terms: Iterable[str], holders: Mapping[str, int]) -> list[str]:
    """The rarest of ``terms`` that some incident holds, within the bounds of `TERMS` and `POSTINGS`;
    at least one, if there is any."""
    known = sorted((holders[term], term) for term in terms if term in holders)[:TERMS]
    read = list(accumulate(count for count, _ in known))
    return [term for (_, term), sum_ in zip(known, read, strict=True) if sum_ <= POSTINGS] or [
        term for _, term in known[:1]
    ]


def _recording(held: Mapping[str, Any]) -> Recording | None:
    """A recording from its JSON; None of an empty one."""
    if not held.get("frames"):
        return None
    return Recording(tuple(held["frames"]), held["message"], tuple(held["libraries"]))


def _releases(
    database: Database, which: str, values: Mapping[str, str]
) -> dict[str, tuple[Release, ...]]:
    """The releases that the incidents of a condition name."""
    found: dict[str, tuple[Release, ...]] = defaultdict(tuple)
    for incident, *release in database.rows(
        f"SELECT incident_id, library, bad, fixed, change FROM incident_release{which}"
        " ORDER BY incident_id, position",
        **values,
    ):
        found[incident] += (Release(*release),)
    return found


def _incidents(database: Database, lang: Lang, key: str | None = None) -> Iterator[Incident]:
    """All incidents or one, whole."""
    one = " AND incident_id = :key" if key is not None else ""
    values = {"key": key} if key is not None else {}
    sources: dict[str, list[Source]] = defaultdict(list)
    for incident, url, supports in database.rows(
        "SELECT incident_id, url, supports FROM incident_source"
        f" WHERE 1 = 1{one} ORDER BY incident_id, position",
        **values,
    ):
        sources[incident].append(Source(url, supports))
    releases = _releases(database, f" WHERE 1 = 1{one}", values)
    for row in database.rows(
        "SELECT id, title, cause_id, saw, was, mended, libraries, exception, message, devices, op,"
        " argument, frames, fixes, versions, gpus, reproduce, recorded, inferred"
        f" FROM incident JOIN incident_text ON incident_id = id WHERE lang = :lang{one}"
        " ORDER BY position",
        lang=lang,
        **values,
    ):
        yield Incident(
            id=row[0],
            title=row[1],
            cause=row[2],
            saw=row[3],
            was=row[4],
            mended=row[5],
            url=sources[row[0]][0].url,
            sources=tuple(sources[row[0]]),
            libraries=tuple(decoded(row[6])),
            exception=row[7],
            message=row[8],
            devices=tuple(decoded(row[9])),
            op=row[10],
            argument=row[11],
            frames=tuple(decoded(row[12])),
            fixes=tuple(decoded(row[13])),
            versions=decoded(row[14]),
            gpus=row[15],
            reproduce=row[16],
            recorded=_recording(decoded(row[17])),
            releases=releases.get(row[0], ()),
            inferred=tuple(decoded(row[18])),
        )
