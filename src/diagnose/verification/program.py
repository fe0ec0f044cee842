"""The verification program as a module: what it checks is checked by ``diagnose run --verify`` and by
``diagnose fix`` alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

from diagnose.casebase.store import Casebase
from diagnose.verification.snippet import any_cause, snippet

#: It asks whether the machine is sound, and copies tensors for that; a program cannot mend it.
_OF_THE_MACHINE = "peer-copy"
#: Compiled once for all runs that are forked from a process.
_code = lru_cache(maxsize=4)(compile)


class Found(NamedTuple):
    """What a check of the program says: ``check`` is its name (``module-census``)."""

    check: str
    sentence: str


def loaded(source: str, file: str) -> ModuleType:
    """The module that a program's source makes; it ends the process where torch is missing."""
    module = ModuleType("verify")
    module.__file__ = file
    exec(_code(source, file, "exec", dont_inherit=True), vars(module))
    return module


def program_of(casebase: Casebase) -> ModuleType:
    """The program with all checks of what a program can fix."""
    cause = any_cause(casebase)
    cause = cause._replace(checks=tuple(one for one in cause.checks if one != _OF_THE_MACHINE))
    return loaded(snippet(cause, None, None, casebase), "verify.py")


@contextmanager
def watching(casebase: Casebase) -> Iterator[list[Found]]:
    """A context in which a user's program runs under all checks of the program.

    Yields:
        An empty list; at the end it holds what the checks have found, first things first.
    """
    program: Any = program_of(casebase)
    watch = program.Watch()
    found: list[Found] = []
    try:
        with watch.hooks():
            yield found
    finally:
        found += [
            Found(check.removeprefix("check_").replace("_", "-"), sentence)
            for sentence, check in watch.found.items()
        ]
