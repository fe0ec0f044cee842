"""What a query for incidents speaks of: words in, notions out.

A notion is a device, a phrase that symptoms.toml knows with all that means the same, any other word, a
name of several words, or two neighbouring characters of Chinese text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple
from unicodedata import normalize

from diagnose._toml import loads
from diagnose.naming.descriptions import stem

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
#: A name of several words: out_head, LLMs-from-scratch. Together they say more than each does.
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)+", re.ASCII)
_ORDINALS = {"first": 0, "second": 1, "third": 2, "第一": 0, "第二": 1, "第三": 2}
_ORDINAL = re.compile(
    r"\b(first|second|third)\s+(?:gpu|card|device)s?\b|(第[一二三])(?:张|块|个)?\s*(?:显卡|gpu|卡)"
)


class Notion(NamedTuple):
    """One thing that a query speaks of: the phrases that mean it, as an index of `spaced` texts holds them,
    and those of them that the query itself has, where it could have said it otherwise."""

    kind: Literal["device", "known", "word", "pair", "name"]
    phrases: tuple[str, ...]
    said: tuple[str, ...] = ()


def spaced(text: str) -> str:
    """Text as SQLite's tokenizer cuts it rightly: it takes a run of Chinese for one word."""
    return re.sub(rf"[{_HAN}]+", lambda run: f" {'  '.join(run[0])} ", normalize("NFKC", text))


class _Vocabulary(NamedTuple):
    """symptoms.toml, made for looking up: stemmed words, or a Chinese phrase, to the notion they mean;
    each notion's phrases for the index; the words and the Chinese characters that say nothing."""

    notions: Mapping[tuple[str, ...], str]
    longest: int
    chinese: Mapping[str, str]
    phrases: Mapping[str, tuple[str, ...]]
    stop: frozenset[str]
    particles: frozenset[str]


@lru_cache(maxsize=1)
def _vocabulary() -> _Vocabulary:
    data = loads(Path(__file__).with_name("symptoms.toml").read_text(encoding="utf-8"))
    notions, chinese, phrases = {}, {}, {}
    for notion, ways in data["notions"].items():
        phrases[notion] = tuple(map(_phrase, ways))
        for way in ways:
            if any(map(_is_han, way)):
                chinese[way.replace(" ", "")] = notion
            else:
                notions[tuple(stem(word) for word in words(way))] = notion
    longest = max(map(len, notions))
    stop, particles = frozenset(data["stop"]["words"]), frozenset(data["stop"]["particles"])
    return _Vocabulary(notions, longest, chinese, phrases, stop, particles)


def notions(query: str, longest: int = _LONGEST_QUERY) -> dict[str, Notion]:
    """What a query speaks of, by a name for each; of a long one the beginning counts."""
    found: dict[str, Notion] = {}

    def device(match: re.Match[str]) -> str:
        said = next(filter(None, match.groups()))
        number = _ORDINALS[said] if said in _ORDINALS else int(said)
        found[f"cuda:{number}"] = Notion("device", _device(number))
        return " "

    text, moves = _MOVE.subn(r" \1 ", query[:longest])
    if moves:  # in no words: all that mean it are as good
        name = _vocabulary().notions[(stem("move"),)]
        found[name] = Notion("known", _vocabulary().phrases[name])
    text = _BESIDE_HAN.sub("", normalize("NFKC", text).casefold())
    rest, chinese = _chinese(_ORDINAL.sub(device, _DEVICE.sub(device, text)))
    english = _english([word for word in words(rest) if not _is_han(word)])
    for name in _NAME.findall(text):
        found[f"#{name}"] = Notion("name", (_phrase(name),))
    for name, notion in [*chinese.items(), *english.items()]:
        said = found[name].said if name in found else ()
        found[name] = notion._replace(said=(*said, *notion.said))
    return found


def _device(number: int) -> tuple[str, ...]:
    """The ways to name a GPU by its number, as the index cuts them."""
    ways = [f"{name} {number}" for name in ("cuda", "gpu", "rank", "card", "device")]
    ways += [f"{name}{number}" for name in ("cuda", "gpu")] + [f"{number} 号"]
    for word, its in _ORDINALS.items():
        if its == number:
            ways += [f"{word} gpu", f"{word} card"] if word.isascii() else [" ".join(word)]
    return tuple(ways)


def _english(line: Sequence[str]) -> dict[str, Notion]:
    """The notions of a line of words: the longest known phrases, and other words by themselves."""
    known = _vocabulary()
    stems = [stem(word) for word in line]
    found: dict[str, Notion] = {}
    position = 0
    while position < len(line):
        for length in range(known.longest, 0, -1):
            name = known.notions.get(tuple(stems[position : position + length]))
            if name is not None and position + length <= len(line):
                said = " ".join(line[position : position + length])
                _add(found, name, said)
                break
        else:
            length, word = 1, line[position]
            if word not in known.stop:
                found[f"={stems[position]}"] = Notion("word", (word,))
        position += length
    return found


def _chinese(text: str) -> tuple[str, dict[str, Notion]]:
    """The Chinese notions of a text: known phrases, and the pairs of characters between them.

    Returns:
        The text without the phrases, since a phrase may hold digits (全是 0), and the notions.
    """
    known = _vocabulary()
    found: dict[str, Notion] = {}
    for way in sorted(known.chinese, key=len, reverse=True):
        if way in text:
            _add(found, known.chinese[way], _phrase(way))
            text = text.replace(way, " ")
    for run in filter(_is_han, words(text)):
        for one, two in itertools.pairwise(run):
            if not {one, two} & known.particles:
                found[f"?{one}{two}"] = Notion("pair", (f"{one} {two}",))
    return text, found


def _add(found: dict[str, Notion], name: str, said: str) -> None:
    """A known notion, and how the query says it; it may say it twice."""
    before = found[name].said if name in found else ()
    found[name] = Notion("known", _vocabulary().phrases[name], (*before, said))


def _phrase(way: str) -> str:
    """A way to say something, as an index of `spaced` texts cuts it."""
    return " ".join(words(spaced(way)))


def words(text: str) -> list[str]:
    """The words of a text, and its runs of Chinese characters."""
    return _WORD.findall(text)


def _is_han(text: str) -> bool:
    return re.match(f"[{_HAN}]", text) is not None
