"""Finds incidents and causes by what people saw: words in, ranked entries out.

A query is cut into notions: a device, a phrase that symptoms.toml knows with all that means the same,
any other word by itself. Each notion is looked up in a full-text index that SQLite builds in memory
from the case base in both languages. An entry's score is the share of the query that it speaks of,
where a rare notion weighs more than a common one, so that it means the same for every query.
"""

from __future__ import annotations

import itertools
import math
import re
import sqlite3
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from sqlite3 import Connection
from typing import Literal, NamedTuple

from diagnose._toml import loads
from diagnose.casebase.store import Casebase
from diagnose.errors import DiagnoseError
from diagnose.model import Cause, Incident

Entry = Incident | Cause
Key = tuple[type[Entry], str]

#: How much a notion in a column says: title, what was seen, why and what helped, the message, names.
WEIGHTS = {"title": 3.0, "saw": 2.0, "was": 1.0, "message": 1.0, "names": 2.0}
#: The part of a notion's weight that an entry gets for speaking of it at all; the rest is for how much.
_MENTIONED = 0.6
#: Who has an error message gives it to `diagnose`: a search is rather for what raised nothing.
_RAISED_NOTHING = 1.15
#: An entry that speaks of less of the query than this is not worth a reader's time.
_LEAST = 0.25
_LONGEST_QUERY = 2000

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_DEVICE = re.compile(
    r"\b(?:cuda|gpu|card|device|rank)\s*[:#(]?\s*(\d{1,2})\b(?![.\d])"
    r"|(?:显卡|gpu|第)\s*(\d{1,2})\s*(?:号|张|块)|(\d{1,2})\s*号(?:卡|gpu|显卡)",
    re.ASCII,
)
#: A call that moves something; "to" alone is a word like any other.
_MOVE = re.compile(r"\.(?:to|(cuda|cpu))\b")
_BESIDE_HAN = re.compile(rf"(?<=[{_HAN}])\s+|\s+(?=[{_HAN}])")
_WORD = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}]+")
_ORDINALS = {"first": 0, "second": 1, "third": 2, "第一": 0, "第二": 1, "第三": 2}
_ORDINAL = re.compile(
    r"\b(first|second|third)\s+(?:gpu|card|device)s?\b|(第[一二三])(?:张|块|个)?\s*(?:显卡|gpu|卡)"
)
#: Marks notions that are any two neighbouring characters of Chinese text.
PAIR = "?"
_ENDINGS = ("ings", "ing", "ed", "es", "s", "e")


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
    wanted = notions(query)
    entries = _entries(casebases[0])
    if not wanted or not entries:
        return ()
    translations = [
        {(type(entry), entry.id): entry for entry in _entries(other)} for other in casebases[1:]
    ]
    with closing(indexed(entries, translations)) as index:
        scores = _scores(index, wanted, len(entries))
    for row, score in scores.items():
        entry = entries[row]
        if isinstance(entry, Incident) and not entry.exception and not entry.message:
            scores[row] = min(1.0, score * _RAISED_NOTHING)
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:top]
    return tuple(_hit(entries[row], score) for row, score in best if score >= _LEAST)


def _entries(casebase: Casebase) -> list[Entry]:
    return [*casebase.incidents.values(), *casebase.causes.values()]


def _hit(entry: Entry, score: float) -> Hit:
    score = round(score, 3)
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
        yield _spaced("\n".join(texts))


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


def _spaced(text: str) -> str:
    """Text as SQLite's tokenizer cuts it rightly: it takes a run of Chinese for one word."""
    return re.sub(rf"([{_HAN}])", r" \1 ", unicodedata.normalize("NFKC", text))


def holding(index: Connection, phrases: Sequence[str]) -> list[tuple[int, float]]:
    """The rows of the index that hold one of the phrases, and how much each speaks of it. The phrases hold
    nothing but letters, digits and spaces, and are quoted: they are no syntax."""
    return index.execute(
        f"SELECT rowid, -bm25(entry, {', '.join(map(str, WEIGHTS.values()))})"
        " FROM entry WHERE entry MATCH ?",
        (" OR ".join(f'"{phrase}"' for phrase in phrases),),
    ).fetchall()


def _scores(
    index: Connection, notions: Mapping[str, Sequence[str]], entries: int
) -> dict[int, float]:
    """For each row the share of the notions, by weight, that it speaks of."""
    total = 0.0
    scores: defaultdict[int, float] = defaultdict(float)
    for notion, phrases in notions.items():
        rows = holding(index, phrases)
        if not rows and notion.startswith(PAIR):
            continue  # the end of one word and the beginning of the next
        weight = math.log(1 + entries / (len(rows) + 0.5))
        total += weight
        most = max((match for _, match in rows), default=1.0)
        for row, match in rows:
            scores[row] += weight * (_MENTIONED + (1 - _MENTIONED) * match / most)
    return {row: score / total for row, score in scores.items()}


# --- the query --------------------------------------------------------------------------------------


class _Vocabulary(NamedTuple):
    """symptoms.toml, made for looking up: stemmed words, or a Chinese phrase, to the notion they mean;
    each notion's phrases for the index; the words that say nothing."""

    notions: Mapping[tuple[str, ...], str]
    longest: int
    chinese: Mapping[str, str]
    phrases: Mapping[str, tuple[str, ...]]
    stop: frozenset[str]


@lru_cache(maxsize=1)
def _vocabulary() -> _Vocabulary:
    data = loads(Path(__file__).with_name("symptoms.toml").read_text(encoding="utf-8"))
    notions, chinese, phrases = {}, {}, {}
    for notion, ways in data["notions"].items():
        phrases[notion] = tuple(" ".join(_words(_spaced(way))) for way in ways)
        for way in ways:
            if any(map(_is_han, way)):
                chinese[way.replace(" ", "")] = notion
            else:
                notions[tuple(_stem(word) for word in _words(way))] = notion
    longest = max(map(len, notions))
    return _Vocabulary(notions, longest, chinese, phrases, frozenset(data["stop"]["words"]))


def notions(query: str, longest: int = _LONGEST_QUERY) -> dict[str, tuple[str, ...]]:
    """What the query speaks of: a name for each notion, and the phrases that mean it."""
    found: dict[str, tuple[str, ...]] = {}

    def device(match: re.Match[str]) -> str:
        said = next(filter(None, match.groups()))
        number = _ORDINALS[said] if said in _ORDINALS else int(said)
        found[f"cuda:{number}"] = _device(number)
        return " "

    text = _MOVE.sub(r" move \1 ", query[:longest])
    text = _BESIDE_HAN.sub("", unicodedata.normalize("NFKC", text).casefold())
    rest, chinese = _chinese(_ORDINAL.sub(device, _DEVICE.sub(device, text)))
    return found | chinese | _english([word for word in _words(rest) if not _is_han(word)])


def _device(number: int) -> tuple[str, ...]:
    """The ways to name a GPU by its number, as the index cuts them."""
    ways = [f"{name} {number}" for name in ("cuda", "gpu", "rank", "card", "device")]
    ways += [f"{name}{number}" for name in ("cuda", "gpu")] + [f"{number} 号"]
    for word, its in _ORDINALS.items():
        if its == number:
            ways += [f"{word} gpu", f"{word} card"] if word.isascii() else [" ".join(word)]
    return tuple(ways)


def _english(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The notions of a line of words: the longest known phrases, and other words by themselves."""
    known = _vocabulary()
    stems = [_stem(word) for word in words]
    found: dict[str, tuple[str, ...]] = {}
    position = 0
    while position < len(words):
        for length in range(known.longest, 0, -1):
            notion = known.notions.get(tuple(stems[position : position + length]))
            if notion is not None and position + length <= len(words):
                found[notion] = known.phrases[notion]
                break
        else:
            length, word = 1, words[position]
            if word not in known.stop:
                found[f"={stems[position]}"] = (word,)
        position += length
    return found


def _chinese(text: str) -> tuple[str, dict[str, tuple[str, ...]]]:
    """The Chinese notions of a text: known phrases, and the pairs of characters between them.

    Returns:
        The text without the phrases, since a phrase may hold digits (全是 0), and the notions.
    """
    known = _vocabulary()
    found: dict[str, tuple[str, ...]] = {}
    for way in sorted(known.chinese, key=len, reverse=True):
        if way in text:
            notion = known.chinese[way]
            found[notion] = known.phrases[notion]
            text = text.replace(way, " ")
    for run in filter(_is_han, _words(text)):
        for one, two in itertools.pairwise(run):
            found[f"{PAIR}{one}{two}"] = (f"{one} {two}",)
    return text, found


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _is_han(text: str) -> bool:
    return re.match(f"[{_HAN}]", text) is not None


def _stem(word: str) -> str:
    """The word without the ending that tells diverges from diverging; the index has a stemmer too."""
    for ending in _ENDINGS:
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
