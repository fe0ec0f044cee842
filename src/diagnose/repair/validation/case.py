"""A patch that ran, as the guards look at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property
from typing import NamedTuple

from diagnose.fixes.diff import patched
from diagnose.repair.model import Candidate, Ran
from diagnose.repair.patch import Patch, patch_of
from diagnose.repair.workspace import Workspace


class Unexercised(NamedTuple):
    """A function of an edited file that never ran: its lines, and what it is called."""

    file: str
    lines: range
    name: str


class Case:
    """The edits of a program and what it gives with them, beside what it is meant to give.

    Args:
        workspace: has the program's files.
        patches: the edited files by their paths there.
        applied: the edits.
        wanted: the program as it is meant.
        ran: the edited one.
        unexercised: what of the edited files never ran.
    """

    def __init__(
        self,
        workspace: Workspace,
        patches: Mapping[str, Patch],
        applied: Sequence[Candidate],
        wanted: Ran,
        ran: Ran,
        unexercised: Sequence[Unexercised] = (),
    ) -> None:
        self.workspace = workspace
        self.patches = patches
        self.applied = applied
        self.wanted = wanted
        self.ran = ran
        self.unexercised = unexercised

    @cached_property
    def steps(self) -> Sequence[tuple[Candidate, Patch]]:
        """The edits in their order, each beside its file as those before it left that."""
        texts, found = dict[str, str](), list[tuple[Candidate, Patch]]()
        for one in self.applied:
            before = texts.get(one.file) or self.workspace.text(one.file)
            texts[one.file] = patched(before, one.patch)
            found.append((one, patch_of(before, texts[one.file])))
        return found

    @cached_property
    def edited(self) -> Set[str]:
        """The edited lines, as ``file:line`` of a run."""
        return self.lines(lambda _, row: True)

    def lines(self, holds: Callable[[Patch, str], bool]) -> Set[str]:
        """The edited lines of which something holds."""
        return {
            self.place(file, line)
            for file, patch in self.patches.items()
            for line, row in patch.added
            if holds(patch, row)
        }

    def place(self, file: str, line: int) -> str:
        """A line of an edited file as a run names it."""
        return f"{self.workspace.folder / file}:{line}"


def line_of(place: str) -> str:
    """The line of a place."""
    return place.rpartition(":")[2]
