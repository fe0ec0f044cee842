"""Sections as plain text of 80 columns or as Markdown. Names and values come from logs: nothing in them
steers a terminal or opens a tag."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diagnose.evaluation.sections import Row, Section
from diagnose.rendering.words import clean, width, wrap

COLUMNS = 80
#: With less room than this beside the other columns, the last one goes on lines of its own.
_ROOM = 30
_GAP = "  "
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>#|!~&"})


def text(sections: Iterable[Section]) -> str:
    """Tables of at most 80 columns; only a word that is longer than that exceeds them."""
    return "\n\n".join("\n".join(_text(section)) for section in sections) + "\n"


def markdown(sections: Iterable[Section]) -> str:
    """GitHub-flavoured Markdown."""
    return "\n\n".join("\n".join(_markdown(section)) for section in sections) + "\n"


def _text(section: Section) -> Iterator[str]:
    yield from wrap(clean(section.title), COLUMNS)
    yield from wrap(clean(section.note), COLUMNS)
    if not section.rows:
        return
    heads = tuple(head.upper() for head in section.heads)
    rows = [tuple(clean(cell) for cell in row) for row in (heads, *section.rows)]
    last = len(section.heads) - 1
    widths = [max(width(row[i]) for row in rows) for i in range(last)]
    room = COLUMNS - sum(widths) - len(_GAP) * last
    longest = max(width(row[last]) for row in rows)
    # Flush right with its numbers, or flush left and wrapped.
    wide = longest if last in section.right else 0
    beside = longest <= room or room >= _ROOM
    for number, row in enumerate(rows):
        head = _GAP.join(_set(row[i], widths[i], i in section.right) for i in range(last))
        if not beside:
            yield head.rstrip()
            if number:
                yield from (f"    {line}" for line in wrap(row[last], COLUMNS - 4))
            continue
        indent = " " * (width(head) + len(_GAP))
        for n, line in enumerate(wrap(row[last], max(room, 1)) or [""]):
            cell = _set(line, wide, last in section.right)
            yield f"{head + _GAP if not n else indent}{cell}".rstrip()


def _set(cell: str, wide: int, right: bool) -> str:
    fill = " " * (wide - width(cell))
    return fill + cell if right else cell + fill


def _markdown(section: Section) -> Iterator[str]:
    yield f"### {_plain(section.title)}"
    if section.note:
        yield from ("", _plain(section.note))
    if section.rows:
        yield ""
        yield _pipes(section.heads)
        yield (
            "|"
            + "|".join("---:" if i in section.right else "---" for i in range(len(section.heads)))
            + "|"
        )
        yield from (_pipes(row) for row in section.rows)


def _pipes(row: Row) -> str:
    return "| " + " | ".join(_plain(cell) for cell in row) + " |"


def _plain(cell: str) -> str:
    return clean(cell).translate(_SPECIAL)
