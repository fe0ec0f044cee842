"""Frames as IPython, Jupyter and Colab print them, old and new; rich prints "path:line in f" as well."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnose.model import Frame
from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import cpython
from diagnose.parsing.tracebacks.form import Form, of_frames
from diagnose.parsing.tracebacks.source import Source, indentation, listing
from diagnose.patterns import lazy

_NAME = r"(?P<function><[^<>]{1,60}>|[\w.<>]+)(?:\(.*)?"
_FILE = r"(?:[A-Za-z]:[\\/])?[^:\"'*?\n]+?|<[^<>\n]+>"
_NEW = lazy(rf"^`?(?P<mark>File )?(?P<file>{_FILE}):(?P<line>\d+)(?:,? in {_NAME})?\s*$")
_CELL = lazy(
    r"^\s*(?:File )?(?P<file>(?:Cell In|Input In|In)\s?\[\d+\]),? "
    rf"(?:line (?P<line>\d+)(?:,? in {_NAME})?|in (?P<scope><[^<>]+>|[\w.]+)(?:\(.*\))?)\s*:?$"
)
_OLD = lazy(
    r"^\s*`?(?P<file><[^<>]{1,120}>|(?:~|\.{0,2}/|[A-Za-z]:[\\/]|\w)[^:\"'=(){}]*?\.(?:py[xc]?|pxi|so|ipynb)"
    r"|/tmp/ipykernel_\S+) in "
    rf"{_NAME}\s*$"
)
_EDITORS = lazy(  # a notebook in an editor, which translates the word
    r"^(?P<file>\S.*\.ipynb) (?:Cell|单元格|儲存格|セル|셀) \d+(?: line (?P<line>\d+))?"
    rf"(?: in {_NAME})?$"
)
_ANONYMOUS = lazy(r"^in (?P<function><\w+>|\w[\w.]*):(?P<line>\d+)\s*$")
_FORMS = {"anonymous": _ANONYMOUS, "cell": _CELL, "new": _NEW, "old": _OLD, "editors": _EDITORS}
_ARROW = lazy(r"^-+> {1,2}(?P<code>\S.*)$")
_MOST_VALUES = 400
_NOTHING = Source(None, (), None, 0)


def frame(lines: Sequence[Peeled], index: int) -> tuple[Frame, int] | None:
    """The frame that a line begins, and the index after what belongs to it; None where none begins."""
    text = lines[index].text
    if " in " not in text and ":" not in text and "line" not in text and not text.startswith("in "):
        return None
    stripped = text.strip()
    if len(stripped) > 1000 or (found_head := _head(stripped)) is None:
        return None
    form, match = found_head
    groups = match.groupdict()
    below = _below_arguments(lines, index)
    source = listing(lines, below) or _NOTHING
    if form == "new" and not _credible(match, source, lines, index):
        return None
    if not source.context:
        source = _plain_source(lines, index, form == "cell" or bool(groups.get("mark")))
    line = groups.get("line")
    if form == "old" and source.line is None and source.context:
        source = _middle(source)
    found = Frame(
        file=(groups.get("file") or "<unknown>").strip(),
        line=int(line[:9]) if line else source.line,
        function=groups.get("function") or groups.get("scope") or _scope(form, match),
        code=source.code,
        at=lines[index].number,
        context=source.context,
    )
    return found, max(source.end, index + 1)


def _below_arguments(lines: Sequence[Peeled], index: int) -> int:
    """The index after the values of arguments that Verbose mode prints: a module's fill many lines."""
    text = lines[index].text
    if text.count("(") <= text.count(")"):
        return index + 1
    for after in range(index + 1, min(len(lines), index + _MOST_VALUES)):
        if frame_head(lines[after].text) is not None or not lines[after].text.strip():
            break
        if listing(lines, after) is not None:
            return after
    return index + 1


def _head(stripped: str) -> tuple[str, re.Match[str]] | None:
    """The form of a frame's first line, and what it says."""
    for form, pattern in _FORMS.items():
        if form == "editors" and ".ipynb " not in stripped:
            continue
        if match := pattern.match(stripped):
            return form, match
    return None


def _scope(form: str, match: re.Match[str]) -> str | None:
    """IPython 8 and later leave out "in <module>"."""
    marked = form in ("cell", "editors") or (form == "new" and match["mark"])
    return "<module>" if marked else None


def _middle(source: Source) -> Source:
    """In cgitb nothing is marked: it shows as many lines before the failing one as after it."""
    number, code = source.context[len(source.context) // 2]
    return source._replace(line=number, code=code.strip() or None)


def _credible(match: re.Match[str], source: Source, lines: Sequence[Peeled], index: int) -> bool:
    """A path and a number alone stand in many a log line; a frame has a mark or its source below."""
    file = match["file"]
    if match["mark"]:
        return True
    if match["function"]:
        return bool(source.context) or bool(re.search(r"[\\/.]|^<", file))
    return source.line == int(match["line"][:9])


def _plain_source(lines: Sequence[Peeled], index: int, marked: bool) -> Source:
    """The one source line of IPython's Plain mode, or of its Docs mode."""
    after = index + 1
    if marked and (shown := _shown(lines, after)) is not None:
        return shown
    if marked and after < len(lines):
        text = lines[after].text
        indent = indentation(lines[index].text)
        if text.strip() and indentation(text) > indent and frame_head(text) is None:
            return Source(text.strip(), (), None, after + 1)
    return Source(None, (), None, after)


def _shown(lines: Sequence[Peeled], index: int) -> Source | None:
    """The source line that an arrow without a number shows below a blank line."""
    if index + 1 >= len(lines) or lines[index].text.strip():
        return None
    arrow = _ARROW.match(lines[index + 1].text)
    return Source(arrow["code"], (), None, index + 2) if arrow else None


def frame_head(text: str) -> re.Match[str] | None:
    """The match of a line that looks like a frame of this or CPython's form."""
    stripped = text.strip()
    return cpython.FRAME.match(text) or _CELL.match(stripped) or _OLD.match(stripped)


FORM = Form("ipython", of_frames(frame), probes=(" in ", "\nin ", ":", "line"))
