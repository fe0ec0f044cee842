r"""A traceback inside a string: JSON, repr(), logfmt, CSV; with its line feeds spelled ``\n``."""

from __future__ import annotations

import re

from diagnose.parsing.transports.layer import Carried, LineLayer
from diagnose.patterns import lazy

_ESCAPED_BREAK = lazy(r"(\\+)n")
_MARK = lazy(r'Traceback|\\nE   |File \\*"|ipython-input|Cell In|Error')
_ESCAPE = lazy(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[ntr\"'\\/])")
_PLAIN = {"n": "\n", "t": "\t", "r": "", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_OCTAL = lazy(r"#(0[13][0-7])")
_SHOWN_BREAKS = (" \u21b5 ", "\u21b5", "\u2424", "\u240a", "\u00b6")
_SEAM = lazy(
    r"Traceback \(most recent call last\):(?P<mark> ?[^\s\w\"'(\\]\S{0,5} ?)(?=(?:  |\t)File \")"
)
_CALL = lazy(r"""((?:\w+\.)*[A-Z]\w*(?:Error|Exception))\(['"]$""")
_LIST_SEAM = lazy(r"""(?<=\n)['"], *['"]|^['"], *['"]""", re.MULTILINE)


def unescape(line: str) -> list[str] | None:
    """The lines of a traceback that stands escaped in one line, or None where there is none."""
    if (parts := _seamed(line)) is not None:
        return parts
    if line.count("\\n") < 2 or not _MARK.search(line):
        return None
    start, quote = _opening_quote(line, line.index("\\n"))
    body = line[start:]
    depth = min(len(m.group(1)) for m in _ESCAPED_BREAK.finditer(body)) if "\\n" in body else 1
    if quote and (end := _closing_quote(body, quote)) is not None:
        rest = body[end:]
        body = body[:end] if not _MARK.search(rest) else body
    for _ in range(max(1, depth.bit_length())):
        if "\\n" not in body:
            break
        body = unescaped(body)
    if "\xe2" in body:
        body = _of_bytes(body)
    body = _LIST_SEAM.sub("", body)
    said = body.rstrip("\n").split("\n")
    if named := _CALL.search(line[:start]):
        return [f"{named[1]}: {said[0]}", *said[1:]]  # the repr of an exception
    head = line[:start].rstrip(" '\"=:[{(,b")
    return [head, *said] if head else said


def _seamed(line: str) -> list[str] | None:
    """The lines of a traceback whose line feeds another mark stands for."""
    if "%0A" in line and ("%20File%20" in line or line.count("%0A") > 2):
        from urllib.parse import unquote, unquote_plus

        if "%20" in line or "%22" in line:  # the address of a form that was filled in
            spaced = line.count("+") > line.count("%20") and " " not in line.strip()
            return (unquote_plus(line) if spaced else unquote(line)).split("\n")
        return line.replace("%0A", "\n").replace("%25", "%").split("\n")  # GitHub's annotations
    if line.count("#012") > 2:  # rsyslog
        return _OCTAL.sub(lambda seen: chr(int(seen[1], 8)), line).split("\n")
    shown = next((mark for mark in _SHOWN_BREAKS if line.count(mark) > 2), None)
    if shown is not None and _MARK.search(line):
        return line.split(shown)
    if "Traceback (most recent" in line and (seam := _SEAM.search(line)):
        return line.split(seam["mark"]) if line.count(seam["mark"]) > 2 else None
    return None


def _of_bytes(body: str) -> str:
    """The text of a bytes literal, whose escapes spelled UTF-8."""
    try:
        return body.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return body


def _opening_quote(line: str, position: int) -> tuple[int, str]:
    """Where the string that holds the position begins, and its quote; 0 and no quote where none."""
    for index in range(position - 1, max(-1, position - 4000), -1):
        if line[index] in "\"'" and (index == 0 or line[index - 1] in " =:[{(,b"):
            return index + 1, line[index]
    return 0, ""


def _closing_quote(body: str, quote: str) -> int | None:
    index = 0
    while (index := body.find(quote, index)) >= 0:
        if index == 0 or body[index - 1] != "\\":
            return index
        index += 1
    return None


def unescaped(body: str) -> str:
    """The text that the inside of a string literal stands for."""
    return _ESCAPE.sub(_character, body)


def _character(match: re.Match[str]) -> str:
    token = match.group(1)
    if token[0] in "ux" and len(token) > 1:
        return chr(int(token[1:], 16))
    return _PLAIN[token]


def _peel(line: str) -> Carried | None:
    return Carried(said) if (said := unescape(line)) is not None else None


LINE_LAYERS = (
    LineLayer(
        "escaped", _peel, 50, "a record's strings are escaped by rules of its own", opens=True
    ),
)
