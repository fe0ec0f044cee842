"""Frames as CPython prints them, and those who decorate its form: loguru, better_exceptions,
stackprinter, faulthandler."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.model import Frame
from diagnose.parsing.lines import Peeled
from diagnose.parsing.tracebacks import exceptions
from diagnose.parsing.tracebacks.events import Raised
from diagnose.parsing.tracebacks.form import Form, Reading, State, called
from diagnose.parsing.tracebacks.source import (
    Source,
    indentation,
    is_annotation,
    is_underline,
    listing,
)
from diagnose.parsing.tracebacks.statement import statement
from diagnose.patterns import lazy

FRAME = lazy(  # not one that is quoted in a value or in the source; a blank may be lost on the way
    r'(?P<before>.*?)(?<![\'"\\])\bFile "(?P<file>[^"\n]+)", ?line ?(?P<line>\d+)'
    r"(?:(?:,? in |,in |, ?in(?=[\w.<>]+\s*$))(?P<function>[\w.]*<[^\n]*>[\w.<>]*|[^\s:][^:\n]*?) ?:?)?\s*$"
)
_MOST_STATEMENT_LINES = 12


def frame(lines: Sequence[Peeled], index: int) -> tuple[Frame, int] | None:
    """The frame that a line begins, and the index after what belongs to it; None where none begins."""
    text = lines[index].text
    if 'File "' not in text or (match := FRAME.match(text)) is None:
        return None
    number = int(match["line"][:9])
    source, printed = _source(lines, index + 1, indentation(text))
    found = Frame(
        file=match["file"],
        line=number,
        function=_name(match["function"]),
        code=source.code,
        at=lines[index].number,
        context=source.context,
        statement=statement(printed, number) if len(printed) > 1 else None,
    )
    return found, source.end


def _name(printed: str | None) -> str | None:
    if printed is None:
        return None
    name = printed.strip()
    return name if name.startswith("<") else name.split("(")[0].rstrip(" :") or None


def _source(lines: Sequence[Peeled], start: int, indent: int) -> tuple[Source, list[str]]:
    """The source below a frame's first line, and its lines and carets as printed."""
    if (numbered := listing(lines, start)) is not None and numbered.line is not None:
        return numbered, []
    code: str | None = None
    printed: list[str] = []
    index = start
    if index < len(lines) and _interrupts(lines[index].text, indent):
        index += 1  # another thread's log
    if index < len(lines) and _is_code(lines[index].text, indent):
        code = lines[index].text.strip()
        printed.append(lines[index].text)
        index += 1
    whole = True
    while index < len(lines) and index - start < _MOST_STATEMENT_LINES * 4:
        text = lines[index].text
        if is_annotation(text) and text.strip():
            # Carets, or values of variables, or a note that lines were left out.
            whole = whole and is_underline(text)
        elif not (
            code is not None and _continues(text, indent) and index - start < _MOST_STATEMENT_LINES
        ):
            break  # else a statement over several lines
        if printed and whole:
            printed.append(text)
        index += 1
    return Source(code, (), None, index), printed


def _interrupts(text: str, indent: int) -> bool:
    return indentation(text) <= indent and exceptions.is_log(text)


def _is_code(text: str, indent: int) -> bool:
    if not text.strip() or FRAME.match(text) or exceptions.is_structure(text):
        return False
    deeper = indentation(text) > indent
    if is_annotation(text):
        return False
    if deeper:
        return True
    # Indentation was lost on the way: what is neither a frame nor an exception is the source.
    return indent == indentation(text) == 0 and exceptions.match(text, after_frame=True) is None


def _continues(text: str, indent: int) -> bool:
    return (
        bool(text.strip())
        and indentation(text) > indent + 1
        and FRAME.match(text) is None
        and not exceptions.is_structure(text)
    )


def _read(lines: Sequence[Peeled], state: State) -> Reading | None:
    found = frame(lines, state.here)
    if found is None:
        return None
    line = lines[state.here]
    events, after = called(*found, indent=indentation(line.text))
    before = FRAME.match(line.text)  # an exception that a log told on one line with its first frame
    if before and (named := exceptions.match(before["before"], after_frame=False)):
        events = [Raised(line.number, named.type, named.message), *events]
    return events, after


FORM = Form("cpython", _read, probes=("File",), marks=('File "',))
