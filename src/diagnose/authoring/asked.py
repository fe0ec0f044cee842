"""What an incident is asked to say beyond what its file must hold: that it was read twice, and why its
program raises the error's text itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from diagnose.authoring.byhand import raised_by_hand
from diagnose.compiling.kberror import KbError
from diagnose.compiling.kbfile import Files, text_of, toml_of

_Facts = Mapping[str, Any]


class _Asked(NamedTuple):
    """A key, and whether its absence is a mistake; without ``required`` it is only told. ``missing``
    is what has to be written, of an incident that lacks the key."""

    key: str
    required: bool
    missing: Callable[[_Facts, str], str | None]


def _reading(facts: _Facts, program: str) -> str:
    return (
        "is missing: somebody else reads the sources and writes"
        ' { on = the date, seen = "what of the thread was read" }'
    )


def _reason(facts: _Facts, program: str) -> str | None:
    line = raised_by_hand(facts, program)
    if line is None:
        return None
    return (
        f"is missing: reproduce.py raises the error's text itself (line {line}); show how it comes"
        " about, or write why that cannot be shown"
    )


#: What is told of and what must be there.
ASKED = (
    _Asked("reviewed", required=False, missing=_reading),
    _Asked("by_hand", required=False, missing=_reason),
)


def asked(read: Files, *, required: bool) -> Iterator[KbError]:
    """What the incidents of kb/ lack: of the keys that must be there, or of those that should be."""
    for name in read:
        if not fnmatchcase(name, "cases/[!_.]*/case.toml"):
            continue
        with suppress(KbError):  # what cannot be read is told elsewhere
            facts = toml_of(read, name)
            program = text_of(read, str(PurePosixPath(name).with_name("reproduce.py")))
            for one in ASKED:
                lacks = one.required == required and one.key not in facts
                if lacks and (reason := one.missing(facts, program)):
                    yield KbError(name, one.key, reason, 1)
