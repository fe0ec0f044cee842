"""Frames and errors as pytest prints them: the source above, "path:line:" below, "E   " before errors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnose.model import Frame
from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import exceptions
from diagnose.parsing.tracebacks.events import Called, Event, Link, Raised
from diagnose.parsing.tracebacks.form import Form, Reading, State
from diagnose.patterns import lazy

_PLACE = lazy(
    r"^(?P<file>(?:[A-Za-z]:)?[^\s:\"][^:\"]*?\.pyx?|<[^<>\s]+>):(?P<line>\d+):"
    r"(?: in (?P<function><?[\w.]+>?)| (?P<type>[A-Za-z_][\w.]*))?\s*$"
)
_SUMMARY = lazy(
    r"^(?P<file>(?:[A-Za-z]:)?[^\s:\"][^:\"]*?\.pyx?):(?P<line>\d+): "
    r"(?P<type>[A-Za-z_][\w.]*(?:Error|Exception)): (?P<message>.+)$"
)
_ERROR = lazy(r"^E(?: {2,}(?P<text>.*))?$")
_FAILING = lazy(r"^> {2,}(?P<code>\S.*)$")
_DEF = lazy(r"^ {0,4}(?:async )?def (?P<name>\w+)")
_SEPARATOR = lazy(r"^(?:_ ){4,}_?\s*$|^(?:_{3,}|={3,}) .* (?:_{3,}|={3,})$")
_TITLE = lazy(r"^_{3,} (?:ERROR \w+ \w+ \w+ )?(?P<name>.+?) _{3,}$")
_LOCAL = lazy(r"^\w+ *= |^\s")
_NO_SOURCE = "???"
_FARTHEST = 400
_MOST_LOCALS = 120


def events(lines: Sequence[Peeled], index: int) -> tuple[list[Event], int] | None:
    """What a line of a pytest failure says, and the index after it; None for any other line."""
    text = lines[index].text
    if text.startswith("E"):
        # A bare E begins no error: unittest prints it for each test that failed.
        return _error(lines, index) if text[1:3] == "  " and _ERROR.match(text) else None
    if summary := _SUMMARY.match(text):  # --tb=line
        at = lines[index].number
        frame = Frame(summary["file"], int(summary["line"][:9]), at=at)
        raised = Raised(at, summary["type"], summary["message"])
        return [Link(at, "section"), Called(frame), raised], index + 1
    place = _PLACE.match(text)
    if place is None or (place["type"] and not place["type"].endswith(("Error", "Exception"))):
        return None
    if place["type"] and not _is_failure(lines, index):
        return None
    return [Called(_frame(lines, index, place))], index + 1


def _error(lines: Sequence[Peeled], index: int) -> tuple[list[Event], int]:
    """The "E   " lines, and the place below them, which is the innermost frame of the long form."""
    at = index
    said: list[str] = []
    while index < len(lines) and (match := _ERROR.match(lines[index].text)):
        said.append(match["text"] or "")
        index += 1
    below, place = _below(lines, index)
    found = exceptions.match(said[0], after_frame=False) or exceptions.match(
        said[0].split(" - ")[0], after_frame=False
    )
    kind = found.type if found else (place["type"] if place and place["type"] else "AssertionError")
    first = found.message if found else said[0]
    raised = Raised(lines[at].number, kind, "\n".join([first, *said[1:]]).rstrip())
    if place is not None and not place["function"]:
        return [Called(_frame(lines, below, place, at)), raised], below + 1
    return [raised], index


def _below(lines: Sequence[Peeled], index: int) -> tuple[int, re.Match[str] | None]:
    """The place under the error; the values of locals may stand between."""
    for below in range(index, min(len(lines), index + _MOST_LOCALS)):
        text = lines[below].text
        if place := _PLACE.match(text):
            return below, place
        if text.strip() and not _LOCAL.match(text):
            break
    return index, None


def _frame(
    lines: Sequence[Peeled], index: int, place: re.Match[str], before: int | None = None
) -> Frame:
    function, code = place["function"], None
    if function is None:
        function, code = _above(lines, index if before is None else before)
    elif index + 1 < len(lines) and lines[index + 1].text.startswith("   "):
        shown = lines[index + 1].text.strip()
        code = shown if shown != _NO_SOURCE else None
    return Frame(place["file"], int(place["line"][:9]), function, code, at=lines[index].number)


def _above(lines: Sequence[Peeled], index: int) -> tuple[str | None, str | None]:
    """Function and failing line from the source that stands above the place."""
    function: str | None = None
    code: str | None = None
    generated = False
    shown: list[str] = []  # the source lines, the last first
    for position in range(index - 1, max(-1, index - _FARTHEST), -1):
        text = lines[position].text
        if _SEPARATOR.match(text) or _PLACE.match(text):
            title = _TITLE.match(text)
            if function is None and title:
                function = title["name"].split(".")[-1].split("[")[0]
            break
        if code is None and (failing := _FAILING.match(text)):
            code = failing["code"].strip()
        if definition := _DEF.match(text.replace(">", " ", 1) if text.startswith(">") else text):
            function = definition["name"]
        generated = generated or text.startswith(".0 = ")
        shown.append(text[1:] if text.startswith(">") else text)
    if code == _NO_SOURCE:
        return function or "<module>", None  # a string that was executed, most often
    return function or _nameless(shown[::-1], code, generated=generated), code


def _nameless(shown: Sequence[str], code: str | None, *, generated: bool) -> str:
    """The name of a scope without a def: a comprehension (its argument is ".0"), a lambda, a module.
    ``shown``: its source lines."""
    if not generated:
        return "<lambda>" if code and re.search(r"\blambda\b", code) else "<module>"
    return {"[": "<listcomp>", "{": "<dictcomp>"}.get(_bracket(" ".join(shown)), "<genexpr>")


def _bracket(source: str) -> str:
    """The bracket that the comprehension in the source stands in."""
    loop = re.search(r"\s(?:async )?for \w", source)
    depth = 0
    for character in reversed(source[: loop.start()] if loop else ""):
        depth += (character in ")]}") - (character in "([{")
        if depth < 0:
            return character
    return ""


def _is_failure(lines: Sequence[Peeled], index: int) -> bool:
    return any(_ERROR.match(line.text) for line in lines[max(0, index - 60) : index])


def _read(lines: Sequence[Peeled], state: State) -> Reading | None:
    found = events(lines, state.here)
    if found is None:
        return None
    said, end = found
    return said, State(end, isinstance(said[-1], Called), end, state.indent)


FORM = Form("pytest", _read, probes=("E  ", ":"), marks=("\nE   ",))
