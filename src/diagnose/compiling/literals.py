"""What every match of a regular expression holds, read off its syntax tree when the case base is built.

A pattern whose literals do not stand in a report cannot match there; it is then neither tried nor even
compiled, which is most of what reading the facts would cost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

try:
    from re import _constants as kinds  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_constants as kinds
    import sre_parse as parser

_SHORTEST = 2
_MOST = 6


def required(pattern: str) -> tuple[tuple[str, ...], ...]:
    """Groups of texts, case folded, the most telling first: every match of the pattern, case folded, holds
    at least one text of each group.

    Empty where the pattern demands none, or is not in the syntax of Python's ``re``.
    """
    try:
        tree = parser.parse(pattern)
    except (re.error, OverflowError, RecursionError):
        return ()
    return tuple(tuple(sorted(group)) for group in _demands(tree)[:_MOST])


def _demands(tree: Sequence[tuple[Any, Any]]) -> list[frozenset[str]]:
    """The alternatives of each part of a sequence, those whose shortest text is longest first."""
    found: list[frozenset[str]] = []
    run = ""
    for kind, value in [*tree, (None, None)]:
        if kind is kinds.LITERAL and value < 128:
            run += chr(value)
            continue
        if run:
            found.append(frozenset({run.casefold()}))
            run = ""
        part = _part(kind, value)
        if part is not None:
            found.append(part)
    fit = [texts for texts in found if texts and min(map(len, texts)) >= _SHORTEST]
    return sorted(fit, key=lambda texts: (-min(map(len, texts)), len(texts)))


def _best(tree: Sequence[tuple[Any, Any]]) -> frozenset[str] | None:
    """The part of a sequence that tells most."""
    return next(iter(_demands(tree)), None)


def _part(kind: Any, value: Any) -> frozenset[str] | None:
    """What a group, a choice or a repeat demands."""
    if kind is kinds.SUBPATTERN:
        return _best(value[-1])
    if kind is kinds.BRANCH:
        branches = [_best(branch) for branch in value[1]]
        texts = [text for text in branches if text is not None]
        return frozenset().union(*texts) if len(texts) == len(branches) else None
    repeats = {kinds.MAX_REPEAT, kinds.MIN_REPEAT, getattr(kinds, "POSSESSIVE_REPEAT", object())}
    if kind in repeats and value[0] >= 1:
        return _best(value[2])
    if kind is getattr(kinds, "ATOMIC_GROUP", object()):
        return _best(value)
    return None
