"""HTML pages and mails, Markdown fences and quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from diagnose.parsing.lines import Peeled
from diagnose.parsing.transports import records
from diagnose.parsing.transports.layer import Carried, Layer, LineLayer
from diagnose.patterns import lazy

_HTML = lazy(
    r"&(?:quot|lt|gt|amp|#3[49]|#x27|nbsp|#10|#9[45]\d\d);|<a href=|</?"
    r"(?:br|pre|code|span|div|testcase|failure)\b[^<>]{0,500}>"
)
# Only tags by name: <module> and <lambda> are Python's.
_TAGS = lazy(
    r"</?(?:a|b|blockquote|body|cite|code|details|div|em|error|failure|font|head|hr|html|i|kbd|li|meta"
    r"|ol|p|pre|samp|script|section|small|span|strong|style|summary|svg|table|tbody|td|testcase"
    r"|testsuites?|text|th|tr|tspan|tt|u|ul|h[1-6])\b[^<>]{0,2000}>",
    re.IGNORECASE,
)
_BREAK = lazy(
    r"<br\s*/?>\n?|<(?:failure|error) [^<>]{0,2000}>|</(?:p|div|li|tr|pre|h[1-6])>\n?|&#10;|&#xA;",
    re.IGNORECASE,
)
_DECLARATIONS = lazy(r"<\?xml[^<>]{0,200}\?>|<!\[CDATA\[|\]\]>")
_COLUMN = lazy(r"(?<=[^>])</td>\s*(?=<td)", re.IGNORECASE)
_ENTITY = lazy(r"&(?:\w{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,6});")
_FENCE = lazy(r"^\s*(?:```+|~~~+)[\w+-]*\s*$")
#: A paste between backticks, whose first line is a traceback's.
_TICKS = lazy(r"^\s?(?P<ticks>`{1,3})(?=\s*(?:File \"|Traceback \(|[\w.]+(?:Error|Exception): ))")
_LINK = lazy(r"\[([^\[\]\n]{1,300})\]\(https?://[^()\s]{1,300}\)")  # Colab's, copied
_ESCAPED = lazy(r"wrapper\\_|File \"/[^\"]*\\_|in \\<module")
_ESCAPE = lazy(r"\\([_*<>\[\]#`|~])")
_QUOTE = lazy(r"^\s{0,3}(?:>\s?)+")
_FEWEST_QUOTED = 4
_QUOTED_FRAME = lazy(r'^\s{0,3}(?:> ?)+\s*(?:File "|Traceback \(|Original Trace|[╭│]|-{60})')


def unhtml(line: str) -> list[str]:
    """The lines of text that one line of HTML or XML shows."""
    if "<?xml" in line or "<![CDATA[" in line:
        line = _DECLARATIONS.sub("", line)
    line = _COLUMN.sub("\t", line)
    pieces = [_TAGS.sub("", piece) for piece in _BREAK.sub("\n", line).split("\n")]
    if len(pieces) > 1 and not pieces[-1]:
        pieces.pop()  # the break stood at the line's end
    import html  # a table of two thousand entities, where it is needed

    for _ in range(2):  # pages that quote pages escape twice
        if any(_ENTITY.search(piece) for piece in pieces):
            pieces = [html.unescape(piece) for piece in pieces]
    return [part for piece in pieces for part in piece.split("\n")]


def unfence(lines: Sequence[Peeled]) -> Iterator[Peeled]:
    """Lines without Markdown's fences and, where tracebacks are quoted, without the quote marks."""
    if any("\\" in line.text and _ESCAPED.search(line.text) for line in lines):
        lines = [line._replace(text=_ESCAPE.sub(r"\1", line.text)) for line in lines]
    lines = [
        line._replace(text=_LINK.sub(r"\1", line.text)) if "](http" in line.text else line
        for line in lines
    ]
    kept = _unticked([line for line in lines if not _FENCE.match(line.text)])
    quoted = any(_QUOTED_FRAME.match(line.text) for line in kept) or _all_quoted(kept)
    for line in kept:
        if quoted and (mark := _QUOTE.match(line.text)):
            line = line._replace(text=line.text[mark.end() :])
        yield line


def _all_quoted(lines: Sequence[Peeled]) -> bool:
    said = [line.text for line in lines if line.text.strip()]
    return len(said) > _FEWEST_QUOTED and all(_QUOTE.match(text) for text in said)


def _unticked(lines: Sequence[Peeled]) -> Sequence[Peeled]:
    """Lines without the backticks before a traceback's first line and after its last."""
    if not any("`" in line.text and _TICKS.match(line.text) for line in lines):
        return lines
    kept: list[Peeled] = []
    ticks = ""
    for line in lines:
        text = line.text
        if not ticks and (match := _TICKS.match(text)):
            ticks = match["ticks"]
            text = text[match.end() :]
        if ticks and text.endswith(ticks) and text.count(ticks) % 2:
            text, ticks = text.removesuffix(ticks), ""
        kept.append(line._replace(text=text))
    return kept


LAYERS = (Layer("markup", unfence, "process", 10, "fences and quotes stand around all else"),)


def _is_html(lines: Sequence[Peeled]) -> bool:
    """True where some text looks escaped or tagged."""
    return any(
        ("&" in text or "</" in text or "<br" in text) and _HTML.search(text)
        for text in (line.text for line in lines)
    )


def _peel(line: str) -> Carried | None:
    if line[:1] == "{" and records.read(line) is not None:
        return None  # within its strings
    shown = unhtml(line)
    return Carried(shown) if shown != [line] else None


LINE_LAYERS = (
    LineLayer(
        "markup", _peel, 20, "what a page shows is escaped once more", opens=True, where=_is_html
    ),
)
