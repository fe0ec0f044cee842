"""Two runs of one program: whether they print the same numbers, and where two texts differ."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from difflib import unified_diff
from operator import itemgetter

from diagnose.repair.model import Ran, Sentence, said

_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
_DEVICE = re.compile(r"\b(?:cpu|cuda(?::\d+)?)\b")
#: What a printed tensor tells of itself but its numbers; it may stand in a line of its own.
_ATTACHED = re.compile(r",\s*(?:device='[^']*'|grad_fn=<\w+>)")
#: How long something took, by its name or by its unit: no two runs agree in it.
_NAMES = (
    r"(?:run|wall)?time|elapsed|took|duration|latency|seconds|secs?|msecs?|ms|throughput|fps|"
    r"per_?sec(?:ond)?|\w+/s(?:ec)?"
)
_UNITS = r"seconds|secs?|s|msecs?|ms|us|µs|ns|minutes|mins?|fps|\w+/s(?:ec)?|m?s/\w+"
_TOOK = re.compile(
    rf"(?P<name>(?<![^\W_])(?:{_NAMES})\b[\"']?(?:\s+per\s+\w+)?\s*(?:\(\w+\))?\s*[:=]?\s*)"
    rf"(?:\d+(?::\d+)+(?:\.\d+)?|{_NUMBER.pattern})|"
    rf"(?<![\w.]){_NUMBER.pattern}(?P<unit>\s?(?:{_UNITS}))(?![\w/])",
    re.IGNORECASE,
)
#: How far two numbers may be apart, of their size and as such.
_RELATIVE, _ABSOLUTE = 1e-3, 1e-5


def difference(wanted: str, got: str, varying: Collection[int] = ()) -> Sentence | None:
    """The first line in which two outputs differ by more than devices' names, times and rounding.

    Args:
        wanted: what was meant to be printed.
        got: what was printed.
        varying: numbers of lines, from 1 on, that are not compared.

    Returns:
        A sentence about the line, None where there is none.
    """
    one, two = _lines(wanted), _lines(got)
    for number in differing(wanted, got):
        if number not in varying:
            meant, printed = one[number - 1].strip()[:50], two[number - 1].strip()[:50]
            return said("output-line", line=number, got=printed, meant=meant)
    if len(one) != len(two):
        return said("output-length", got=len(two), meant=len(one))
    return None


def differing(wanted: str, got: str) -> Iterator[int]:
    """The numbers of the lines in which two outputs differ."""
    pairs = zip(_lines(wanted), _lines(got), strict=False)
    return (number for number, (a, b) in enumerate(pairs, 1) if not _alike(a, b))


def _lines(text: str) -> list[str]:
    return _ATTACHED.sub("", text).splitlines()


def _alike(one: str, two: str) -> bool:
    if one == two:
        return True
    one, two = (_DEVICE.sub("device", _untimed(text)) for text in (one, two))
    if _NUMBER.sub("#", one).split() != _NUMBER.sub("#", two).split():
        return False
    return all(
        _close(float(a), float(b))
        for a, b in zip(_NUMBER.findall(one), _NUMBER.findall(two), strict=True)
    )


def _untimed(text: str) -> str:
    """A line without how long something took."""
    return _TOOK.sub(lambda found: f"{found['name'] or ''}#{found['unit'] or ''}", text)


def _close(one: float, two: float) -> bool:
    if one != one or two != two:
        return one != one and two != two
    return abs(one - two) <= max(_ABSOLUTE, _RELATIVE * max(abs(one), abs(two)))


def same_values(one: Ran, two: Ran, *, ordered: bool = True) -> bool:
    """Whether the same parameters were trained and ended with the same values; where they are not
    ``ordered``, another one may come first: what is registered has the place of its module."""
    trained = [one.trained, two.trained]
    both = trained if ordered else [sorted(told, key=itemgetter(0, 2)) for told in trained]
    return len(both[0]) == len(both[1]) and all(
        a[0] == b[0] and _close(a[2], b[2]) for a, b in zip(*both, strict=True)
    )


def still_trained(one: Ran, two: Ran) -> bool:
    """Whether all that the first run trained the second one trains too, in that order."""
    shapes = iter([shape for shape, _, _ in two.trained])
    return all(shape in shapes for shape, _, _ in one.trained)


def diff_of(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """One diff of all edited files, from the folder that their paths start in."""
    parts = []
    for file, text in after.items():
        old, new = (t.splitlines(keepends=True) for t in (before[file], text))
        for row in unified_diff(old, new, f"a/{file}", f"b/{file}"):
            parts.append(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n")
    return "".join(parts)
