"""What the analysis says of a failure once a file is edited: what fails then, where it failed or behind."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import NamedTuple

from diagnose.placement.analysis import apart, behind
from diagnose.placement.model import Source, Suspect
from diagnose.scene.origins import Origins


class Reanalysis(NamedTuple):
    """A failure after an edit, as far as it is known where all operands are: the suspects of the line that
    failed, before the edit and still, and of what comes behind the traceback's lines, in order."""

    before: tuple[Suspect, ...]
    still: tuple[Suspect, ...]
    next: tuple[Suspect, ...]

    @property
    def left(self) -> tuple[Suspect, ...]:
        """All that fails then."""
        return (*self.still, *self.next)

    @property
    def is_idle(self) -> bool:
        """Whether the line fails as it did."""
        return {one.name for one in self.before} <= {one.name for one in self.still}


def reanalysed(origins: Origins, path: str, text: str) -> Reanalysis | None:
    """What becomes of a failure.

    Args:
        origins: what the files say of it.
        path: the edited file.
        text: all of it.

    Returns:
        None where the analysis does not explain the failure as it is, or took too long.
    """
    before = next((one for one in origins.sources if one.path == path), None)
    lines, program = origins.trace.lines, origins.program
    if before is None or program is None or origins.again is None or not lines:
        return None
    failed = _by_place(apart(program, lines[-1]))
    if not failed:
        return None
    edited = Source(path, text.split("\n"), ast.parse(text))
    at = _moved(before.lines, edited.lines)
    lines = tuple(one._replace(number=at(one.number)) if one.path == path else one for one in lines)
    after = origins.again(edited, origins.trace.at(lines))
    following = chain.from_iterable(behind(after, line) for line in reversed(lines))
    return Reanalysis(failed, _by_place(apart(after, lines[-1])), _by_place(following))


def _by_place(suspects: Iterable[Suspect]) -> tuple[Suspect, ...]:
    """The first suspect of each place to edit."""
    found = dict[tuple[str, int], Suspect]()
    for one in suspects:
        found.setdefault((one.spot.file, one.spot.line), one)
    return tuple(found.values())


def _moved(before: Sequence[str], after: Sequence[str]) -> Callable[[int], int]:
    """Where the lines of a file are in the edited one, counted from 1."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    blocks = [(start, to, first) for _, start, to, first, _ in matcher.get_opcodes()]

    def moved(number: int) -> int:
        at = number - 1
        start, _, first = next(one for one in blocks if one[0] <= at < one[1])
        return first + at - start + 1

    return moved
