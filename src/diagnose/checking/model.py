"""The nouns of a check: plain values, so that a process can hand them to another."""

from __future__ import annotations

from typing import NamedTuple

from diagnose.model import Lang, Safety


class Place(NamedTuple):
    """Characters of a file: lines and columns count from 1, the end is where the next character stands.

    ``code`` is the line that they begin in, ``function`` what holds it. In a notebook lines count within
    code cell number ``cell``.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    function: str | None = None
    cell: int | None = None


class Happened(NamedTuple):
    """A step on a value's way, as `diagnose.placement.model.Step`."""

    what: str
    place: Place
    device: str | None = None


class Replacement(NamedTuple):
    """``removed`` lines from number ``first`` on become ``lines``; of a notebook, lines of a code cell."""

    first: int
    removed: int
    lines: tuple[str, ...]
    cell: int | None = None


class Repair(NamedTuple):
    """A fix, as replacements of lines of the finding's file; ``because`` says why it is not safe."""

    kind: str
    safety: Safety
    replacements: tuple[Replacement, ...]
    because: str | None = None


class Finding(NamedTuple):
    """Something that will fail, or stay on the wrong device, where this code meets a GPU.

    ``id`` is the rule's, a root cause; ``meets`` where it meets another device, if that was seen; ``sure``
    is False where a step was taken for likely, ``because`` what says that something is on a GPU where
    nothing calls the code. ``fingerprint`` outlives changes of other lines.
    """

    id: str
    sentence: str
    place: Place
    device: str | None = None
    wanted: str | None = None
    steps: tuple[Happened, ...] = ()
    meets: Place | None = None
    sure: bool = True
    because: Happened | None = None
    repair: Repair | None = None
    fingerprint: str = ""

    @property
    def order(self) -> tuple[str, int, int, int, str]:
        """Findings stand in the order of their places."""
        place = self.place
        return place.file, place.cell or 0, place.line, place.column, self.id


class Unused(NamedTuple):
    """A comment that ignores a rule where nothing was found; ``meant`` is the rule that is called nearly so
    where none is called so."""

    place: Place
    id: str
    meant: str = ""


class CheckedFile(NamedTuple):
    """What checking one file gave: findings, how many operations were judged and could not be, a sentence
    why it could not be read, sentences about what an internal error has cost of it, and which other files
    were read for it (of a package that is searched, its folder with a slash)."""

    path: str
    findings: tuple[Finding, ...] = ()
    judged: int = 0
    unknown: int = 0
    unused: tuple[Unused, ...] = ()
    problem: str | None = None
    faults: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


class Options(NamedTuple):
    """What is checked: the ids of the rules that report, whether likely findings do, the language."""

    rules: frozenset[str]
    likely: bool = False
    lang: Lang = "en"


class Report(NamedTuple):
    """All that a check found, in the order of the files' names.

    ``fixed`` counts the repairs that were made, ``written`` tells whether that was in the files.
    """

    files: int
    findings: tuple[Finding, ...]
    judged: int = 0
    unknown: int = 0
    unused: tuple[Unused, ...] = ()
    problems: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    fixed: int = 0
    written: bool = False
