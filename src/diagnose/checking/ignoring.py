"""Comments that keep findings of a line from being told: ``# noqa: ID``, ``# diagnose: ignore[ID]``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from diagnose.placement.model import Source

_NOQA = re.compile(r"#\s*noqa\b(?!\s*:)|#\s*noqa\s*:(?P<ids>[\w\-, ]*)", re.IGNORECASE)
_OWN = re.compile(r"#\s*diagnose:\s*ignore\b(?:\[(?P<ids>[\w\-, ]*)\])?")
_ID = re.compile(r"[\w-]+")


class Ignored(NamedTuple):
    """What a comment of a line ignores: these ids, or every rule for None. ``column`` counts from 1."""

    column: int
    ids: tuple[str, ...] | None
    own: bool

    def covers(self, rule: str) -> bool:
        """Whether findings of a rule are ignored."""
        return self.ids is None or rule in self.ids


def ignored(source: Source) -> Mapping[int, tuple[Ignored, ...]]:
    """The comments of a file that ignore something, by their lines."""
    text = source.text
    if "noqa" not in text.lower() and "diagnose:" not in text:
        return {}
    found: dict[int, tuple[Ignored, ...]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and (some := tuple(_of(token))):
                found[token.start[0]] = some
    except (tokenize.TokenError, SyntaxError):
        pass  # what stands above has been seen
    return found


def _of(token: tokenize.TokenInfo) -> Iterator[Ignored]:
    for pattern in (_NOQA, _OWN):
        for match in pattern.finditer(token.string):
            ids = match["ids"]
            named = None if ids is None else tuple(_ID.findall(ids))
            yield Ignored(token.start[1] + match.start() + 1, named, pattern is _OWN)


def unused(
    comments: Mapping[int, tuple[Ignored, ...]],
    found: Collection[tuple[int, str]],
    rules: Collection[str],
    known: Collection[str],
) -> Iterator[tuple[int, Ignored, str]]:
    """The ids that comments name in vain: line, comment, id.

    Args:
        comments: of `ignored`.
        found: line of the comment and id of each finding that was ignored.
        rules: the ids that were looked for; of others nothing is known.
        known: the ids that there are: in a comment of our own a stranger is a slip of the pen.
    """
    for line, some in comments.items():
        for comment in some:
            for rule in comment.ids or ():
                slip = comment.own and rule not in known
                if slip or (rule in rules and (line, rule) not in found):
                    yield line, comment, rule
