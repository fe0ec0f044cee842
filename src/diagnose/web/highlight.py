"""Source code as (class, text) pieces, for templates that escape and colour them.

Code of a pasted log is tokenized at most, never compiled; what does not tokenize is shown plain.
"""

from __future__ import annotations

import keyword
import tokenize
from collections.abc import Iterator
from io import StringIO

#: Longer text is not worth colouring.
_LONGEST = 50_000

Pieces = tuple[tuple[str, str], ...]


def python(source: str) -> Pieces:
    """Python source as pieces; their texts joined are the source.

    Classes: ``k`` keyword, ``s`` string, ``c`` comment, ``n`` number, ``d`` the name after def or
    class, empty for the rest.
    """
    if len(source) > _LONGEST:
        return (("", source),)
    try:
        return tuple(_merged(source))
    except (tokenize.TokenError, SyntaxError, ValueError, IndexError):
        return (("", source),)


def _merged(source: str) -> Iterator[tuple[str, str]]:
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    done, before = 0, ""
    for token in tokenize.generate_tokens(StringIO(source).readline):
        kind = _kind(token, before)
        if token.type == tokenize.NAME:
            before = token.string
        start = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        if not kind or start < done:
            continue
        if source[start:end] != token.string:
            raise ValueError("the token is not where it says")
        if start > done:
            yield "", source[done:start]
        yield kind, source[start:end]
        done = end
    if done < len(source):
        yield "", source[done:]


def _kind(token: tokenize.TokenInfo, before: str) -> str:
    if token.type == tokenize.NAME:
        if before in ("def", "class"):
            return "d"
        return "k" if keyword.iskeyword(token.string) else ""
    name = tokenize.tok_name[token.type]
    if name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"):
        # FSTRING_MIDDLE un-doubles braces, so its text may differ from the source: leave it plain.
        return "" if name == "FSTRING_MIDDLE" else "s"
    return {tokenize.STRING: "s", tokenize.COMMENT: "c", tokenize.NUMBER: "n"}.get(token.type, "")


def before_after(text: str) -> bool:
    """Whether code is shown as lines that go (``- ``) and lines that come (``+ ``)."""
    lines = text.splitlines()
    marks = {line[:2] for line in lines if line.strip()}
    return marks <= {"- ", "+ ", "  "} and bool(marks & {"- ", "+ "})


def patch(text: str) -> Pieces:
    """A unified diff, or `words.changed`, as one piece a line: ``file``, ``hunk``, ``add``, ``del`` or
    ``same``."""
    pieces = []
    in_hunk = not text.startswith("---")
    for line in text.splitlines():
        if line.startswith("@@"):
            in_hunk, kind = True, "hunk"
        elif not in_hunk and line.startswith(("---", "+++", "diff ", "index ")):
            kind = "file"
        else:
            kind = {"+": "add", "-": "del"}.get(line[:1], "same")
        pieces.append((kind, line))
    return tuple(pieces)
