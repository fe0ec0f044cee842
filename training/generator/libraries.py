"""Plants a bug in an installed library, for one run: a line that a model runs says no device any more."""

from __future__ import annotations

import contextlib
import inspect
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import torch

from .model import Mistake, Piece
from .operators import EDITS
from .probing import fed, imported, quiet
from .running import told

LIBRARY_BUG = "library-version-bug"


class Bug(NamedTuple):
    """A line of a function of a library, before and after; lines count from 1."""

    file: str
    function: FunctionType
    line: int
    before: str
    after: str


def bugs(piece: Piece) -> Iterator[Bug]:
    """The bugs that a piece's own package has room for, in what its call runs."""
    for function in _run(piece):
        file = function.__code__.co_filename
        try:
            rows, first = inspect.getsourcelines(function)
        except OSError:  # made by a program, in no file
            continue
        for number, row in enumerate(map(str.strip, rows), first):
            for operator in ("nodevice", "unmove"):
                with contextlib.suppress(
                    SyntaxError, IndexError
                ):  # a part of a statement, or nothing
                    edited = EDITS[operator](row, "") if "device" in row else None
                    if edited:
                        yield Bug(file, function, number, row, edited)


def _run(piece: Piece) -> list[FunctionType]:
    """The functions of a piece's package that its call runs, in the order of their lines."""
    seen = set[CodeType]()

    def note(frame: FrameType, event: str, given: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    with quiet(), torch.no_grad():
        names = imported(piece)
        names["body"] = eval(piece.build, names)
        sys.setprofile(note)
        try:
            fed(piece, names)
        finally:
            sys.setprofile(None)
    return sorted(
        {one for one in _functions(piece.package) if one.__code__ in seen},
        key=lambda one: (one.__code__.co_filename, one.__code__.co_firstlineno),
    )


def _functions(package: str) -> Iterator[FunctionType]:
    """The functions of a package's modules and of their classes."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == package:
            for value in list(vars(module).values()):
                for one in (value, *(vars(value).values() if inspect.isclass(value) else ())):
                    function = inspect.unwrap(one) if isinstance(one, FunctionType) else one
                    if isinstance(function, FunctionType) and function.__module__ == name:
                        yield function


def mistake_of(bug: Bug, program: str) -> Mistake:
    """A program that is right, on a library with the bug."""
    operand = bug.before.partition(" = ")[0] if " = " in bug.before else ""
    file = told(bug.file)
    return Mistake(
        LIBRARY_BUG, "library", operand, program, bug.line, (), (), bug.before, bug.after, file
    )


@contextlib.contextmanager
def planted(bug: Bug) -> Iterator[None]:
    """The bug is in the library, and in what tracebacks show of it."""
    rows = Path(bug.file).read_text(encoding="utf-8").splitlines(keepends=True)
    rows[bug.line - 1] = rows[bug.line - 1].replace(bug.before, bug.after)
    healthy = bug.function.__code__
    wrong = _like(compile("".join(rows), bug.file, "exec"), healthy)
    linecache.cache[bug.file] = (1, None, rows, bug.file)
    bug.function.__code__ = wrong
    try:
        yield
    finally:
        bug.function.__code__ = healthy
        del linecache.cache[bug.file]


def _like(code: CodeType, wanted: CodeType) -> CodeType:
    """The code of the same function in another text of its module."""
    if (code.co_name, code.co_firstlineno) == (wanted.co_name, wanted.co_firstlineno):
        return code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            with contextlib.suppress(LookupError):
                return _like(one, wanted)
    raise LookupError(wanted.co_name)
