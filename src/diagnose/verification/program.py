"""The program that watches a user's script: ``run --verify`` runs it, ``fix`` asks its checks.

Its parts are data (kb/verification): a harness, helper functions, and one file for each check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

from diagnose.casebase.store import Casebase
from diagnose.model import Cause, Frame, Report
from diagnose.patterns import lazy
from diagnose.verification.snippet import reported

#: It asks whether the machine is sound, and copies tensors for that; a program cannot mend it.
_OF_THE_MACHINE = "peer-copy"
#: The cause whose example is the plainest: an operation met two devices.
_PLAIN = "created-without-device"
#: The parts import from each other, to be good modules; here they stand in one.
_OWN_IMPORT = lazy(r"^from (?:__future__|harness|helpers) import (?:\([^)]*\)|.*)\n", re.MULTILINE)
#: Compiled once for all runs that are forked from a process.
_code = lru_cache(maxsize=4)(compile)


def program(cause: Cause, report: Report | None, culprit: Frame | None, casebase: Casebase) -> str:
    """The source of the program with the checks of a cause.

    Args:
        cause: the root cause to verify.
        report: the report it is made for, None for a program that knows of none.
        culprit: the line to edit, as `diagnose.scene.Scene.line_to_edit` finds it.
        casebase: holds the program's parts.

    Raises:
        KeyError: the case base lacks the harness or a check that the cause names.
    """
    parts = casebase.snippets
    seen = reported(report, culprit)
    constants = {
        "CAUSE": cause.id,
        "GPUS": cause.gpus,
        "DEVICES": seen.devices,
        "OPERATION": seen.operation,
        "CULPRIT": seen.culprit,
    }
    head, _, rest = parts["harness"].partition("# <parts>")
    machinery = rest.partition("# </parts>\n")[2]
    sections = [
        _OWN_IMPORT.sub("", source)
        for source in (
            parts.get("helpers", ""),
            cause.example,
            *(parts.get(f"checks/{name.replace('-', '_')}", "") for name in cause.checks),
        )
    ]
    values = [f"{name} = {value!a}" for name, value in constants.items()]
    return "\n".join([head, *values, *sections, *_registry(sections), machinery])


def _registry(sections: Iterable[str]) -> Iterator[str]:
    """The two tuples by which the harness knows the checks and the watchers."""
    text = "\n".join(sections)
    for constant, prefix in (("CHECKS", "check"), ("WATCHERS", "watch")):
        names = re.findall(rf"^def ({prefix}_\w+)\(", text, re.MULTILINE)
        yield f"{constant} = ({''.join(f'{name}, ' for name in names)})"


def any_cause(casebase: Casebase) -> Cause:
    """All checks at once, for a script whose cause nobody has named."""
    checks = [name.partition("/")[2] for name in casebase.snippets if name.startswith("checks/")]
    return casebase.causes[_PLAIN]._replace(
        id="any-cause",
        title="Nothing is on the wrong device",
        checks=tuple(name.replace("_", "-") for name in sorted(checks)),
    )


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
    return loaded(program(cause, None, None, casebase), "verify.py")


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
