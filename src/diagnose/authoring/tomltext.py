"""Text as a TOML string that shows all of itself: the standard library reads TOML and does not write it."""

from __future__ import annotations

from collections.abc import Sequence

_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_SURROGATES = range(0xD800, 0xE000)


def quoted(text: str) -> str:
    """A basic string on one line that reads back as ``text``.

    Whatever a person could not see or a terminal would obey (control characters, changes of the
    writing direction, odd spaces) is escaped. A lone surrogate, which TOML cannot hold, becomes U+FFFD.
    """
    return f'"{"".join(map(_escaped, text))}"'


def quoted_list(texts: Sequence[str], *, columns: int = 100) -> str:
    """A list of strings: on one line, or one string a line where that would be too long."""
    items = [quoted(text) for text in texts]
    line = f"[{', '.join(items)}]"
    if len(line) <= columns:
        return line
    return "[\n" + "".join(f"    {item},\n" for item in items) + "]"


def _escaped(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code in _SURROGATES:
        return "\ufffd"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
