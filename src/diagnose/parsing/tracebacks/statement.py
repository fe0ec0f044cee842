"""The lines of a statement and CPython's carets under them (3.11 and later; all lines from 3.13 on)."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.model import Carets, Statement, indentation
from diagnose.parsing.tracebacks.source import is_underline


def statement(printed: Sequence[str], line: int | None) -> Statement | None:
    """What stands under a frame as a `Statement`; None for one line without carets, which says no more.

    Args:
        printed: source lines and carets, as printed; the first is source.
        line: the number of the first source line.
    """
    sources: list[str] = []
    underlined: list[tuple[int, str]] = []
    for text in (text.rstrip() for text in printed):
        if is_underline(text):
            underlined.append((len(sources) - 1, text))
        else:
            sources.append(text)
    if len(sources) < 2 and not underlined:
        return None
    # CPython takes the white space away that all lines share, and then indents them alike.
    shared = min(indentation(text) for text in sources if text)
    first = indentation(sources[0])
    text = "\n".join([sources[0][first:], *(text[shared:] for text in sources[1:])])
    carets = None
    if underlined:
        (start_line, start_text), (end_line, end_text) = underlined[0], underlined[-1]
        carets = Carets(
            start_line,
            indentation(start_text) - (shared if start_line else first),
            end_line,
            len(end_text) - (shared if end_line else first),
        )
        if carets.column < 0 or carets.end <= 0 or _beyond(text, carets):
            carets = None  # the columns were lost on the way
    return Statement(text, line, carets)


def _beyond(text: str, carets: Carets) -> bool:
    """True where carets stand right of the source, counting wide characters as two columns."""
    lines = text.split("\n")
    wide = sum(not c.isascii() for c in lines[carets.end_line])
    return carets.end > len(lines[carets.end_line]) + wide
