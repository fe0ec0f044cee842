"""Finds incidents and causes by what people saw: words in, ranked entries out.

A query is cut into notions (`diagnose.casebase.notions`). Each is looked up in a full-text index that
SQLite builds in memory from the case base in both languages. An entry's score is the share of the query
that it speaks of, where a rare notion weighs more than a common one, so that it means the same for every
query.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Literal

from rapidfuzz import fuzz, process

from diagnose.casebase.notions import Notion, notions, spaced, words
from diagnose.casebase.store import Casebase
from diagnose.errors import DiagnoseError
from diagnose.model import Cause, Incident

Entry = Incident | Cause
Key = tuple[type[Entry], str]

#: Where in a name a word ends and the next begins.
_CAMEL = r"(?<=[a-z])(?=[A-Z][a-z])"
_NAME = r"\b[A-Za-z]{1,40}[a-z][A-Z][a-z][A-Za-z]{0,40}"
#: How much a notion in a column says: title, what was seen, why and what helped, the message, names.
WEIGHTS = {"title": 3.0, "saw": 2.0, "was": 1.0, "message": 1.0, "names": 2.0}
#: The part of a notion's weight that an entry gets for speaking of it at all; the rest is for how much.
_MENTIONED = 0.6
#: What an entry gets that says it in other words than the query.
_OTHERWISE = 0.8
#: What two neighbouring characters of Chinese weigh: a word of four makes three of them.
_PAIR = 0.4
#: A shorter word is not looked at for slips of the pen; what is less alike (in percent) is another one.
_SHORTEST_SLIP, _LEAST_ALIKE = 5, 80
#: Who has an error message gives it to `diagnose`: a search is rather for what raised nothing.
_RAISED_NOTHING = 1.15
#: An entry that speaks of less of the query than this is not worth a reader's time.
_LEAST = 0.25


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry of the case base that a search found; ``score`` from 0 to 1, ``url`` where it has one."""

    kind: Literal["incident", "cause"]
    id: str
    title: str
    cause: str
    url: str | None
    score: float


class SearchError(DiagnoseError):
    """The SQLite that Python came with has no full-text search."""


def search(query: str, casebases: Sequence[Casebase], *, top: int = 10) -> tuple[Hit, ...]:
    """Incidents and causes that speak of what the query says, best first.

    Args:
        query: symptom words in any of the languages; of a long text the beginning counts.
        casebases: the case base in the languages to search, that of the titles first.
        top: how many at most.

    Raises:
        CasebaseError: the case base cannot be read.
        SearchError: this Python's SQLite lacks FTS5.
    """
    asked = notions(query)
    entries = _entries(casebases[0])
    if not asked or not entries:
        return ()
    translations = [
        {(type(entry), entry.id): entry for entry in _entries(other)} for other in casebases[1:]
    ]
    with closing(indexed(entries, translations)) as index:
        scores = _scores(index, asked.values(), len(entries))
    for row, score in scores.items():
        entry = entries[row]
        if isinstance(entry, Incident) and not entry.exception and not entry.message:
            scores[row] = score * _RAISED_NOTHING
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:top]
    return tuple(_hit(entries[row], score) for row, score in best if score >= _LEAST)


def _entries(casebase: Casebase) -> list[Entry]:
    return [*casebase.incidents.values(), *casebase.causes.values()]


def _hit(entry: Entry, score: float) -> Hit:
    score = round(min(score, 1.0), 3)
    if isinstance(entry, Incident):
        return Hit("incident", entry.id, entry.title, entry.cause, entry.url, score)
    return Hit("cause", entry.id, entry.title, entry.id, None, score)


# --- the index --------------------------------------------------------------------------------------


def indexed(entries: Sequence[Entry], translations: Sequence[Mapping[Key, Entry]]) -> Connection:
    """A full-text table of all entries in all languages; its rows are numbered as ``entries`` are."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(
            f"CREATE VIRTUAL TABLE entry USING fts5({', '.join(WEIGHTS)}, tokenize='porter unicode61')"
        )
    except sqlite3.OperationalError as error:
        connection.close()
        raise SearchError(f"this Python's SQLite has no full-text search: {error}") from error
    connection.executemany(
        f"INSERT INTO entry(rowid, {', '.join(WEIGHTS)}) VALUES (?, ?, ?, ?, ?, ?)",
        ((row, *_in_all_languages(entry, translations)) for row, entry in enumerate(entries)),
    )
    return connection


def _in_all_languages(entry: Entry, translations: Sequence[Mapping[Key, Entry]]) -> Iterator[str]:
    """The entry's columns, each with its text in every language that has one."""
    key = type(entry), entry.id
    versions = [entry, *(other[key] for other in translations if key in other)]
    for texts in zip(*map(_columns, versions), strict=True):
        yield _with_parts(spaced("\n".join(texts)))


def _with_parts(text: str) -> str:
    """The text, and after it the words of its names: TransformerLens speaks of transformers too."""
    return " ".join([text, *(re.sub(_CAMEL, " ", name) for name in re.findall(_NAME, text))])


def _columns(entry: Entry) -> tuple[str, str, str, str, str]:
    """An entry's texts, in the order of `WEIGHTS`."""
    if isinstance(entry, Cause):
        return entry.title, entry.why, entry.tell, "", entry.id
    names = [entry.id, *entry.libraries, *entry.devices, *entry.frames, entry.op, entry.argument]
    return (
        entry.title,
        entry.saw,
        f"{entry.was}\n{entry.mended}",
        entry.message,
        " ".join(filter(None, names)),
    )


def _scores(index: Connection, asked: Iterable[Notion], entries: int) -> dict[int, float]:
    """For each row the share of the notions, by weight, that it speaks of."""
    total = 0.0
    scores: defaultdict[int, float] = defaultdict(float)
    for notion in asked:
        rows, known = holding(index, notion.phrases), True
        if not rows and notion.kind in ("pair", "name"):
            continue  # the end of one word and the beginning of the next; a name of words that stand alone
        if not rows and notion.kind == "word":
            rows, known = holding(index, _mended(index, notion.phrases[0])), False
        weight = math.log(1 + entries / (len(rows) + 0.5))
        weight *= _PAIR if notion.kind == "pair" else 1.0
        total += weight if known else math.log(1 + entries / 0.5)
        same = _shares(holding(index, notion.said) if notion.said else rows if known else {})
        for row, share in _shares(rows).items():
            scores[row] += weight * max(_OTHERWISE * share, same.get(row, 0.0))
    return {row: score / total for row, score in scores.items()}


def _shares(rows: Mapping[int, float]) -> dict[int, float]:
    """For each row that speaks of a notion, from `_MENTIONED` for little to 1 for most."""
    most = max(rows.values(), default=1.0)
    return {row: _MENTIONED + (1 - _MENTIONED) * match / most for row, match in rows.items()}


def holding(index: Connection, phrases: Iterable[str]) -> dict[int, float]:
    """The rows of the index that hold one of the phrases, and how much each speaks of it. The phrases hold
    nothing but letters, digits and spaces, and are quoted: they are no syntax."""
    wanted = " OR ".join(f'"{phrase}"' for phrase in phrases)
    if not wanted:
        return {}
    return dict(
        index.execute(
            f"SELECT rowid, -bm25(entry, {', '.join(map(str, WEIGHTS.values()))})"
            " FROM entry WHERE entry MATCH ?",
            (wanted,),
        )
    )


def _mended(index: Connection, word: str) -> tuple[str, ...]:
    """What a word that stands nowhere may be: two words written as one, or a slip of the pen."""
    if len(word) < _SHORTEST_SLIP:
        return ()
    for cut in range(2, len(word) - 1):
        if holding(index, (two := (f"{word[:cut]} {word[cut:]}",))):
            return two
    likely = {
        one
        for row in index.execute(f"SELECT {', '.join(WEIGHTS)} FROM entry")
        for one in words("\n".join(row).casefold())
        if one[0] == word[0]
    }
    best = process.extractOne(word, sorted(likely), scorer=fuzz.ratio, score_cutoff=_LEAST_ALIKE)
    return (best[0],) if best else ()
