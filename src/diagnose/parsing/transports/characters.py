"""Terminal colours and characters that word processors, chats and web pages swap."""

from __future__ import annotations

import re

from diagnose.parsing.transports.layer import Carried, LineLayer
from diagnose.patterns import lazy

# CSI (colours, cursor), OSC (titles, links), and the two-byte escapes; the escape byte may be lost in
# a paste, so a bare "[0;31m" counts where it ends in m, or be spelled out (\\x1b, \\u001b, ^[).
_ESCAPES = lazy(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_()][0-9A-Za-z]?"
    r"|(?:\u241b|\^\[|#033|\\+(?:x1[bB]|u001[bB]|033|e))\[[\d;?]*[A-Za-z]|\[(?:\d{1,3};)*\d{1,3}m(?!\])"
)
_SWAPPED = str.maketrans(
    {
        **dict.fromkeys("\u00a0\u202f\u205f\u3000", " "),
        **dict.fromkeys(map(chr, range(0x2000, 0x200B)), " "),
        "\u200b": None, "\u200c": None, "\u200d": None, "\u2060": None, "\ufeff": None,
        "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2018": "'", "\u2019": "'",
        "\x00": None, "\x08": None,
    }
)  # fmt: skip


def _misread(character: str) -> tuple[str, str]:
    """How UTF-8 looks when it is read as Windows' Latin, and as Latin-1."""
    data = character.encode()
    windows = (bytes([b]).decode("cp1252", errors="ignore") or chr(b) for b in data)
    return "".join(windows), data.decode("latin-1")


_MISREAD = {seen: box for box in "╭╮╯╰─│❱┌┐└┘━┃┏┓┗┛" for seen in _misread(box)}
_ANY_MISREAD = lazy("|".join(map(re.escape, _MISREAD)))


_WIDE_COMMA = lazy(" *\uff0c *")  # an input method's
_SHOWN_RETURN = lazy(r"\^M\$?$")
_SPELLED_BOX = lazy(r"(?<!\\)\\u(25[0-7][0-9a-f]|2771)")
_UNKNOWN, _SHORT = "\ufffd", 12  # a longer line that begins with one may be a box's


def plain(line: str) -> str:
    """The line without escapes, with plain quotes and blanks."""
    if "\x1b" in line or "[" in line:
        line = _ESCAPES.sub("", line)
    if "\u00e2" in line:
        line = _ANY_MISREAD.sub(lambda seen: _MISREAD[seen.group()], line)
    if line[-1:] in "M$" and (caret := _SHOWN_RETURN.search(line)):
        line = line[: caret.start()]
    if "\\u2" in line:
        line = _SPELLED_BOX.sub(lambda seen: chr(int(seen[1], 16)), line)
    if _UNKNOWN in line and not (line.lstrip().startswith(_UNKNOWN) and len(line) > _SHORT):
        line = line.replace(_UNKNOWN, "")  # a byte that is none of UTF-8's
    if 'File ""' in line:
        line = line.replace('""', '"')  # a field of a CSV file
    if line.isascii() and "\x00" not in line:
        return line
    line = line.translate(_SWAPPED)
    return _WIDE_COMMA.sub(", ", line) if "\uff0c" in line and "File" in line else line


def _peel(line: str) -> Carried | None:
    return Carried((shown,)) if (shown := plain(line)) != line else None


LINE_LAYERS = (LineLayer("characters", _peel, 10, "colours stand within all else"),)
