"""What collectors write after each line: closing quotes, columns, fields of a record, `cat -A`'s dollar
sign. Learned from the lines on which a frame's own words show where it ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from diagnose.parsing.lines import Peeled
from diagnose.patterns import lazy

_FRAME = lazy(  # not in a literal of source code, whose lines are put together later
    r"(?!\s*[\[{(]*[bru]*[\"']).{0,700}?"
    r'File "[^"\n]{1,400}", line \d+, in [\w.<>]+(?P<rest>[^\w.<>\n].{0,400})$'
)
#: What no name of a function goes on with, nor a note of its arguments.
_TELLING = lazy(r"(?:\\n)?[\"']|\t| \+$|\$$")
#: Tells even where it stands once.
_SURE = "$"
_LITERAL = lazy(r"\s*[\[{(]*[bru]*[\"']")
_VARIES = lazy(r"\d+| +")
_NUMBER, _BLANK = "0", " "
_FEWEST, _MOST_SUFFIXES, _MOST_LINES, _LONGEST = 2, 16, 1000, 200
_SHARE = 0.95


def peel_learned(lines: Sequence[Peeled]) -> tuple[Sequence[Peeled], bool]:
    """The lines without what stands after the frames of this very input, or after all of its lines, and
    whether that closes a quote (which their prefix then opens)."""
    known = _after_frames(lines) or _after_lines(lines)
    if not known:
        return lines, False
    suffix = re.compile(f"(?:{'|'.join(_template(one) for one in known)})$")
    quoted = any(one.removeprefix("\\n")[:1] in ("'", '"') for one in known)
    return [line._replace(text=_without(suffix, line.text)) for line in lines], quoted


def _after_frames(lines: Sequence[Peeled]) -> list[str]:
    """What stands after the names of functions, where something does after most of them."""
    seen: Counter[str] = Counter()
    frames = 0
    for line in lines:
        if 'File "' in line.text and (match := _FRAME.match(line.text)):
            frames += 1
            rest = _plain(match["rest"])
            if _TELLING.match(rest):
                seen[rest] += 1
    common = seen.most_common(_MOST_SUFFIXES)
    known = [rest for rest, count in common if count >= _FEWEST or rest == _SURE]
    return known if sum(seen[rest] for rest in known) >= 0.8 * frames else []


def _after_lines(lines: Sequence[Peeled]) -> list[str]:
    """What nearly all lines end with."""
    said = [line.text for line in lines[:_MOST_LINES] if line.text.strip()]
    last = Counter(text.rstrip()[-1] for text in said).most_common(1)
    if len(said) < 2 * _FEWEST or last[0][1] < _SHARE * len(said):
        return []
    ends = [_plain(text[-_LONGEST:]) for text in said]
    length, enough = 0, _SHARE * len(ends)
    while length < _LONGEST:
        following = Counter(end[-length - 1] for end in ends if len(end) > length)
        character, count = following.most_common(1)[0] if following else ("", 0)
        if count < enough:
            break
        length += 1
        ends = [end for end in ends if len(end) >= length and end[-length] == character]
    if not length or 2 * sum(_LITERAL.match(text) is not None for text in said) > len(said):
        return []
    suffix = ends[0][-length:]
    telling = _TELLING.search(suffix)
    return [suffix[telling.start() :]] if telling else []


def _plain(text: str) -> str:
    """The text with any number and any blanks as one."""
    return _VARIES.sub(lambda one: _BLANK if one[0].isspace() else _NUMBER, text)


def _template(suffix: str) -> str:
    kinds = {_NUMBER: r"\d+", _BLANK: " +"}
    whole = "".join(kinds.get(one, re.escape(one)) for one in suffix)
    return f"(?<! ){whole}" if suffix.startswith(_BLANK) else whole  # a run of blanks is tried once


def _without(suffix: re.Pattern[str], text: str) -> str:
    match = suffix.search(text)
    return text[: match.start()] if match else text
