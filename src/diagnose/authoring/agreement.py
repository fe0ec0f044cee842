"""Whether the parts of an incident agree: its two languages, what it advises and what it tells, how much
of the thread was seen and what is said of it.

A text can be well formed and still say more than its sources do. What can be held against something
else in the same file is held against it here; every finding is one that a second reader once had to make.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

from diagnose.compiling.kberror import KbError
from diagnose.compiling.kbfile import Files, text_of, toml_of
from diagnose.compiling.positions import Way, key_of, line_of, positions

_Facts = Mapping[str, Any]
#: Way to the key, reason.
_Found = tuple[Way, str]

_TEXTS = ("title", "saw", "was", "mended")
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_MONTH = "|".join(_MONTHS)
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
#: 0.6.0, 59352; one digit alone is as often written as a word.
_NUMBER = re.compile(r"\d+(?:\.\d+)+|\d{2,}")
#: edit_output_fn, Tensor.to, step(): what is the same word in every language.
_NAME = re.compile(r"[A-Za-z_][\w.]*_[\w.]*\w|[A-Za-z_]\w*\.[a-z_]\w+|\w+(?=\(\))")
_MERGED = re.compile(
    rf"\bmerged (?:in|on|by|at the end of) (?:({_MONTH}) (\d{{4}})|(\d{{4}})-(\d\d))"
)
_UNANSWERED = re.compile(r"\b(?:no answer|not answered|unanswered|(?:nobody|no \w+) answered)\b")
#: Words by which a sentence says itself how far it was read.
_AS_STORED = re.compile(r"\b(?:stored|when it was read)\b")
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|`[^`]*`|(?<!\w)--[\w-]+(?: cpu)?", re.ASCII)
_DEVICE = r"(?:cuda(?::\w)?|mps(?::\d)?|npu(?::\d)?|cpu)"
#: The devices of a message, as torch prints them: cuda:0 与 cpu.
_DEVICES = re.compile(rf"{_DEVICE}(?:\s?[与和、]\s?{_DEVICE})+", re.ASCII)
_CPU = re.compile(r"(?<![\w.'=:(-])(?<!= )(cpu|CPU|gpu)(?![\w'=:()-]|\.\w)", re.ASCII)


def disagreements(read: Files) -> Iterator[KbError]:
    """Where the parts of an incident of kb/ contradict each other, by file and key.

    Args:
        read: the files of kb/, as `diagnose.compiling.kbfile.files` reads them.
    """
    told: dict[str, str] = {}
    with suppress(KbError):  # what cannot be read is told elsewhere
        fixes = toml_of(read, "fixes.toml")
        told = {fix: entry["told"] for fix, entry in fixes.items() if "told" in entry}
    for name in read:
        if not fnmatchcase(name, "cases/[!_.]*/case.toml"):
            continue
        with suppress(KbError, KeyError, TypeError, AttributeError):
            facts, text = toml_of(read, name), text_of(read, name)
            if found := list(_of(facts, told)):
                lines = positions(text)
                for way, reason in found:
                    yield KbError(name, key_of(facts, way), reason, line_of(lines, way))


def _of(facts: _Facts, told: Mapping[str, str]) -> Iterator[_Found]:
    english, chinese = (" ".join(facts[lang][key] for key in _TEXTS) for lang in ("en", "zh"))
    if "TODO" in english or "TODO" in chinese:  # a draft, which `unfinished` tells of
        return
    yield from _languages(english, chinese)
    yield from _spelling(english, chinese)
    yield from _fixes(facts, english, told)
    yield from _answers(facts)
    yield from _unseen(facts)
    yield from _merges(facts)


def _languages(english: str, chinese: str) -> Iterator[_Found]:
    """Numbers and names of code are the same in both languages."""
    for find in (_numbers, _names):
        one, other = find(english), find(chinese)
        for lang, lacking, has in (("zh", one - other, chinese), ("en", other - one, english)):
            missing = sorted(word for word in lacking if word not in has)
            if missing:
                yield (lang,), f"does not speak of {', '.join(missing)}, as the other language does"


def _numbers(text: str) -> set[str]:
    for number, month in enumerate(_MONTHS, 1):
        text = re.sub(rf"\b{month}\b", str(number), text)
    text = _ISO.sub(lambda date: " ".join(str(int(part)) for part in date.groups()), text)
    return set(_NUMBER.findall(text))


def _names(text: str) -> set[str]:
    return {name.strip(".") for name in _NAME.findall(text)}


def _spelling(english: str, chinese: str) -> Iterator[_Found]:
    """One spelling of the processors: CPU and GPU in Chinese, in English one of cpu and CPU."""
    found = set(_CPU.findall(_prose(chinese)))
    for word in sorted(found - {"CPU"}):
        yield (
            ("zh",),
            f"writes {word}: {word.upper()} in prose, {word} only in code and in a message",
        )
    if {"cpu", "CPU"} <= set(_CPU.findall(_prose(english))):
        yield ("en",), "writes cpu and CPU: one of the two in prose"


def _prose(text: str) -> str:
    return _DEVICES.sub(" ", _QUOTED.sub(" ", text))


def _fixes(facts: _Facts, english: str, told: Mapping[str, str]) -> Iterator[_Found]:
    """A fix is told of in the texts, or `inferred` says where it is from."""
    sources = " ".join(f"{one['url']} {one['supports']}" for one in facts["sources"])
    releases = "released" if facts.get("releases") else ""
    said = f"{english} {sources} {releases}"
    if any(one.startswith("fixes") for one in facts.get("inferred", ())):
        return
    for position, fix in enumerate(facts["fixes"]):
        if fix not in told or re.search(told[fix], said, re.IGNORECASE):
            continue
        yield (
            ("fixes", position),
            f"{fix!r} is nowhere told of: tell who mended it so, or where it is from in `inferred`",
        )


def _answers(facts: _Facts) -> Iterator[_Found]:
    """Only who saw a whole thread can tell that it has no answer."""
    seen = (facts.get("reviewed") or {"seen": "whole"})["seen"]
    for key in _TEXTS:
        text = facts["en"][key]
        if _UNANSWERED.search(text) and "whole" not in seen and not _AS_STORED.search(text):
            yield (
                ("en", key),
                "says that there is no answer, and `reviewed` not that the whole was seen",
            )


def _unseen(facts: _Facts) -> Iterator[_Found]:
    """What nobody but the writer could see is not stated as a fact."""
    seen = (facts.get("reviewed") or {"seen": ""})["seen"]
    fields = {one.partition(":")[0].removeprefix("en.") for one in facts.get("inferred", ())}
    if seen.startswith("nothing") and (lacking := {"saw", "mended"} - fields):
        yield (
            ("inferred",),
            f"must name {' and '.join(sorted(lacking))}: `reviewed` says that the thread was not seen",
        )


def _merges(facts: _Facts) -> Iterator[_Found]:
    """The day of a merge stands in no thread that is quoted here: a source says where it is from."""
    supported = " ".join(one["supports"] for one in facts["sources"])
    for key in _TEXTS:
        for month, year, iso_year, iso_month in _MERGED.findall(facts["en"][key]):
            date = f"{year}-{_MONTHS.index(month) + 1:02}" if month else f"{iso_year}-{iso_month}"
            if date not in supported:
                yield (
                    ("en", key),
                    f"dates a merge ({date}): a source has to support the date, or say when it was opened",
                )
