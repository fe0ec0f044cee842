"""Facts that are data: a table of kb/facts.toml with regular expressions, and the values that its
sentences are filled with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

import regex

from diagnose.model import Fact, FactRule, Frame, Report, Sentence
from diagnose.paths import of_frame
from diagnose.scene import Scene

#: What the sentences of kb/facts.toml may be filled with, where the report shows it.
NAMES = frozenset(
    {
        *("message", "devices", "found", "expected", "op", "argument"),
        *("place", "function", "code", "library", "text", "name", "index"),
        *("device", "other", "names", "count", "depth", "rank", "ranks", "title"),
    }
)

#: What a call of an object enters: a module's method, or that of a plain class.
ENTERED = frozenset({"forward", "__call__"})
#: torch's own frames between the call of a module and its ``forward``.
CALLING = frozenset({"_call_impl", "_wrapped_call_impl"})


def at(fact: str, frame: Frame, **values: str) -> Fact:
    """A fact that rests on a frame; what the frame does not show is no value."""
    shown = {
        "place": of_frame(frame),
        "function": frame.function,
        "code": frame.code,
        "library": frame.library,
    }
    return Fact(fact, frame.at, values | {key: value for key, value in shown.items() if value})


_SECONDS = 0.1  # limit of one pattern on one text, against hostile input


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)


def _hit(pattern: str, text: str | None) -> bool:
    if text is None:
        return False
    try:
        return _compiled(pattern).search(text[:4000], timeout=_SECONDS) is not None
    except TimeoutError:
        return False


class Texts(NamedTuple):
    """What the rules of kb/facts.toml are matched against, read off a report once.

    ``topics`` are what the message's wording is about; ``said`` maps a matcher to its text; ``folded`` maps
    every matcher to all its texts, case folded.
    """

    scene: Scene
    topics: tuple[str, ...]
    said: Mapping[str, str | None]
    folded: Mapping[str, str]

    @classmethod
    def of(cls, scene: Scene) -> Texts:
        """The texts of a scene."""
        report = scene.report
        mismatch, error = report.mismatch, report.error
        said = {
            "op": mismatch.op if mismatch else None,
            "argument": mismatch.argument if mismatch else None,
            "pair": scene.pair,
            "type": error.type if error else None,
            "message": error.message if error else None,
        }
        shown = [_shown(frame) for frame in report.frames]
        texts: dict[str, Iterable[str | None]] = {key: (text,) for key, text in said.items()}
        texts["library"] = report.libraries
        texts["context"] = (note.text for note in report.context)
        texts["described"] = (line.text for line in _stated(report))
        texts["operand"] = scene.strays
        texts |= {f"frame.{key}": [frame[key] for frame in shown] for key in _SHOWN}
        folded = {key: "\n".join(filter(None, some)).casefold() for key, some in texts.items()}
        return cls(scene, mismatch.says if mismatch else (), said, folded)

    def may_match(self, rule: FactRule) -> bool:
        """False where the message is about something else, or where a literal that a pattern of the rule
        demands stands nowhere in the report."""
        topic = rule.when.get("says")
        if topic is not None and topic not in self.topics:
            return False
        for key, groups in rule.literals.items():
            text = self.folded[key]
            for group in groups:
                for literal in group:
                    if literal in text:
                        break
                else:
                    return False
        return True


def matched(texts: Texts, rule: FactRule) -> Fact | None:
    """The fact, if all matchers of its rule hold."""
    if not texts.may_match(rule):
        return None
    scene, report = texts.scene, texts.scene.report
    line, values = report.error.at if report.error else None, dict(scene.values)
    for key, pattern in rule.when.items():
        if key in texts.said:
            if not _hit(pattern, texts.said[key]):
                return None
        elif key != "says":  # `may_match` has seen to it
            shown = _shows(scene, key, pattern)
            if shown is None:
                return None
            line, values = shown[0], values | shown[1]
    if rule.frame:
        frames = scene.chosen(rule.frame["which"])
        frame = next((one for one in frames if _frame_hit(rule.frame, one)), None)
        return at(rule.id, frame, **values) if frame is not None else None
    return Fact(rule.id, line, values)


def _shows(scene: Scene, key: str, pattern: str) -> tuple[int | None, dict[str, str]] | None:
    """The line of a report that a matcher of several texts finds, and the values that it shows."""
    report = scene.report
    if key == "library":
        found = [f.at for f in report.frames if f.library and _hit(pattern, f.library)]
        known = any(_hit(pattern, name) for name in report.libraries)
        return (next(iter(found), None), {}) if known else None
    if key == "operand":
        name = next((name for name in scene.strays if _hit(pattern, name)), None)
        if name is None or scene.site is None:
            return None
        shown = {"name": name, "code": scene.site.frame.code}
        return scene.site.frame.at, {k: v for k, v in shown.items() if v}
    notes = report.context if key == "context" else _stated(report)
    note = next((n for n in notes if _hit(pattern, n.text)), None)
    return (note.number, {"text": note.text.strip()[:120]}) if note is not None else None


def _stated(report: Report) -> tuple[Sentence, ...]:
    return report.description.stated if report.description is not None else ()


def combined(rule: FactRule, found: Mapping[str, Fact]) -> Fact | None:
    """The fact of a rule about other facts: the values of all, and the line of the first that its
    sentence quotes. One that quotes no line rests on that of the first it names."""
    if not rule.all or any(key not in found for key in rule.all):
        return None
    if any(key in found for key in rule.none):
        return None
    parts = [found[key] for key in rule.all]
    values: dict[str, str] = {}
    for part in reversed(parts):
        values |= part.values
    said = [key for key in _QUOTED if f"{{{key}}}" in rule.text]
    quoted = (part for part in parts if any(key in part.values for key in said))
    return Fact(rule.id, next(quoted, parts[0]).line, values)


#: Values that stand in one line of the input; the others are of the message or of the whole report.
_QUOTED = ("code", "place", "function", "name", "index", "text")

_SHOWN = ("file", "function", "code", "library")


def _shown(frame: Frame) -> dict[str, str | None]:
    """What the matchers of a frame are tried on."""
    path = frame.file.replace("\\", "/")
    return dict(zip(_SHOWN, (path, frame.function, frame.code, frame.library), strict=True))


def _frame_hit(matchers: Mapping[str, str], frame: Frame) -> bool:
    shown = _shown(frame)
    return all(_hit(p, shown[key]) for key, p in matchers.items() if key != "which")
