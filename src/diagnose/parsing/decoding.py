"""Bytes to text: byte order marks, UTF-16 without one, broken UTF-8, a Chinese Windows's GBK, and what is
no text at all."""

from __future__ import annotations

import codecs

_SAMPLE = 65536
_HOLE = bytes(16)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes | str) -> str:
    """The text of the input; undecodable bytes become U+FFFD, and a binary file the empty text."""
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    encoding = encoding_of(data)
    return "" if encoding is None else data.decode(encoding, errors="replace")


def without_hole(data: bytes) -> bytes:
    """The bytes after the NULs at the beginning of a log that was truncated while its program went on."""
    return data.lstrip(b"\0") if data.startswith(_HOLE) else data


def encoding_of(data: bytes) -> str | None:
    """The encoding that the beginning of an input tells; None where it is no text."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return name
    sample = without_hole(data)[:_SAMPLE]
    if not sample:
        return "utf-8" if len(data) >= _SAMPLE else None  # the text may stand behind a longer hole
    zeros = sample.count(0)
    if zeros * 10 < len(sample):
        if _is_gbk(sample):
            return "gb18030"
        return "utf-8"  # a stray NUL is a sparse file's hole or a crashed writer, not a binary
    if sample[1::2].count(0) > zeros * 0.9 and zeros * 3 > len(sample):
        return "utf-16-le"
    if sample[0::2].count(0) > zeros * 0.9 and zeros * 3 > len(sample):
        return "utf-16-be"
    return None


def _is_gbk(sample: bytes) -> bool:
    """True for text that is no UTF-8 and whose bytes above ASCII stand in pairs, as in GB 18030."""
    if sample.isascii():
        return False
    as_utf8 = sample.decode("utf-8", errors="replace")
    lost = as_utf8.count("\ufffd")
    if 2 * lost <= sum(character > "\x7f" for character in as_utf8):
        return False  # UTF-8, whole or with a broken byte
    try:
        as_gbk = codecs.getincrementaldecoder("gb18030")().decode(sample)
    except UnicodeDecodeError:
        return False
    wide = [character.encode("gb18030") for character in as_gbk if character > "\x7f"]
    return 5 * sum(code[1] > 0x7F for code in wide) > 4 * len(wide)  # an accent comes with a letter
