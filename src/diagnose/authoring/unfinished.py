"""What a draft left to do: the strings of an incident that still say TODO."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from diagnose._toml import TOMLDecodeError, loads
from diagnose.compiling.kberror import KbError
from diagnose.compiling.kbfile import Files
from diagnose.compiling.positions import Way, key_of, line_of, positions

_TODO = re.compile(r"\bTODO\b:?\s*(.*)")
#: Keys of case.toml in which TODO stands for missing work and not for what somebody's program printed.
_WRITTEN_BY_PEOPLE = ("cause", "fixes", "en", "zh", "sources")


def unfinished(read: Files) -> list[KbError]:
    """What is left to do in the incidents of kb/: every ``TODO`` with its key and line.

    Args:
        read: the files of kb/, as `diagnose.compiling.kbfile.files` reads them.
    """
    left = []
    for name, content in read.items():
        if not fnmatchcase(name, "cases/[!_.]*/*") or isinstance(content, KbError):
            continue
        todos = _TODOS.get(PurePosixPath(name).name)
        if todos is None:
            continue
        left += [
            KbError(name, key, f"is missing: {todo.strip() or 'see the lines around it'}", line)
            for key, todo, line in todos(content.decode("utf-8", "replace"))
        ]
    return left


def _todos_of_facts(text: str) -> Iterator[tuple[str, str, int]]:
    """Key, text and line of each TODO in a case.toml; none where it is no TOML, which is told elsewhere."""
    if not _TODO.search(text):
        return
    with contextlib.suppress(TOMLDecodeError, RecursionError):
        data = loads(text)
        lines = positions(text)
        for top in _WRITTEN_BY_PEOPLE:
            for path, value in _strings((top,), data.get(top)):
                if todo := _TODO.search(value):
                    yield key_of(data, path), todo[1], line_of(lines, path)


def _todos_of_program(text: str) -> Iterator[tuple[str, str, int]]:
    """Key, text and line of each TODO in a program."""
    for number, line in enumerate(text.splitlines(), 1):
        if todo := _TODO.search(line):
            yield "-", todo[1], number


def _strings(path: Way, value: Any) -> Iterator[tuple[Way, str]]:
    """The strings in a value of case.toml, each with the way to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, (dict, list)):
        for part, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _strings((*path, part), inner)


_TODOS = {"case.toml": _todos_of_facts, "reproduce.py": _todos_of_program}
