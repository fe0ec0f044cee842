"""What collectors write after each line: closing quotes, columns, fields of a record. Learned from the
lines on which a frame's own words show where it ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from diagnose.parsing.lines import Peeled
from diagnose.patterns import lazy

_FRAME = lazy(  # not in a literal of source code, whose lines are put together later
    r"(?!\s*[\[{(]*[bru]*[\"'])(?P<before>.{0,700}?)"
    r'File "[^"\n]{1,400}", line \d+, in [\w.<>]+(?P<rest>[^\w.<>\n].{0,400})$'
)
#: What no name of a function goes on with, nor a note of its arguments.
_TELLING = lazy(r"^(?:\\n)?[\"']|^\t|^ +[+|]$")
_VARIES = lazy(r"\d+| +")
_FEWEST, _MOST_SUFFIXES = 2, 16


def peel_learned(lines: Sequence[Peeled]) -> tuple[Sequence[Peeled], bool]:
    """The lines without what stands after the frames of this very input, and whether that closes a quote
    (which their prefix then opens)."""
    seen: Counter[str] = Counter()
    frames = 0
    for line in lines:
        if 'File "' in line.text and (match := _FRAME.match(line.text)):
            frames += 1
            if _TELLING.match(match["rest"]):
                seen[_template(match["rest"])] += 1
    known = [t for t, count in seen.most_common(_MOST_SUFFIXES) if count >= _FEWEST]
    if not known or sum(seen[t] for t in known) < 0.8 * frames:
        return lines, False
    suffix = re.compile(f"(?:{'|'.join(known)})$")
    quoted = any(template.lstrip("\\n")[:1] in "\"'" for template in known)
    return [line._replace(text=_without(suffix, line.text)) for line in lines], quoted


def _template(rest: str) -> str:
    """The pattern of a suffix: its digits stand for any digits, its blanks for any blanks."""
    parts = _VARIES.split(rest)
    between = (r"\d+" if one.strip() else " +" for one in _VARIES.findall(rest))
    return "".join(re.escape(part) + next(between, "") for part in parts)


def _without(suffix: re.Pattern[str], text: str) -> str:
    match = suffix.search(text)
    return text[: match.start()] if match else text
