"""Whether the answer to a failure, which knows nothing of values, points at the line of an edit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from diagnose.model import Diagnosis
from diagnose.repair.model import Candidate

#: How sure an answer is whose line counts where it edits none.
_SURE = 0.9
_HUNK = re.compile(r"@@ -(\d+)")


def agreeing(
    found: Sequence[Candidate],
    answer: Diagnosis,
    proposed: Sequence[Candidate],
    path_of: Callable[[str], str | None],
) -> list[Candidate]:
    """Edits of a failure, and of each whether the likeliest cause of the answer that edits anything would
    edit a line that it edits; where none does and the answer is sure, the line that it names counts. An
    answer that knows no cause contradicts nothing.

    Args:
        found: the edits.
        answer: the answer to the failure.
        proposed: what that would edit, likeliest cause first.
        path_of: gives the path of a file in the user's folder.
    """
    if not answer.causes:
        return list(found)
    likeliest = answer.causes[0]
    editing = next((one.cause for one in proposed), likeliest.id)
    pointed = {line for one in proposed if one.cause == editing for line in _lines(one)}
    culprit = answer.culprit
    if not pointed and culprit is not None and likeliest.confidence >= _SURE:
        file = path_of(culprit.file)
        pointed = {(file, culprit.line)} if file and culprit.line else set()
    return [one._replace(agrees=bool(pointed.intersection(_lines(one)))) for one in found]


def _lines(one: Candidate) -> Iterator[tuple[str, int]]:
    """The lines that an edit takes away, or adds something beside."""
    at, gone = 0, False
    for row in one.patch.splitlines():
        if start := _HUNK.match(row):
            at, gone = int(start[1]), False
        elif row[:3] in ("---", "+++"):
            continue
        elif row[:1] == "-":
            yield one.file, at
            at, gone = at + 1, True
        elif row[:1] == "+":
            yield from () if gone else ((one.file, at - 1), (one.file, at))
        else:
            at, gone = at + 1, False
