"""The program's own lines, as code objects and positions: taken often, so nothing of them is text."""

from __future__ import annotations

import re
import sys
import sysconfig
import threading
from types import CodeType, FrameType
from typing import NamedTuple

from diagnose.patterns import GENERATED, in_package

#: So many of the user's frames of a stack are kept, and so many frames are looked through for them.
_KEPT, _DEEPEST = 6, 80
_LIBRARY = tuple({path for name in ("stdlib", "platstdlib") if (path := sysconfig.get_path(name))})
#: This package: one folder up, for hooks and simulated GPUs are no lines of a user's either.
_OURS = __file__.rpartition("tracing")[0]
#: A file of torch itself.
_TORCH = re.compile(r"[\\/]torch[\\/]")


class Line(NamedTuple):
    """An instruction of the program: ``at`` is its offset in the code's bytes (`frame.f_lasti`)."""

    code: CodeType
    at: int
    number: int


#: The user's own lines, innermost first.
Stack = tuple[Line, ...]
_OWN: dict[CodeType, bool] = {}
#: In each thread, the lines that started it.
_STARTED = threading.local()


def is_library(file: str) -> bool:
    """Whether a file is of an installed package, of Python's own library, or ours."""
    return file.startswith(("<frozen ", _OURS, *_LIBRARY)) or in_package(file) is not None


def is_own(code: CodeType) -> bool:
    """Whether code is the user's: no installed package, not Python's own library, not ours."""
    found = _OWN.get(code)
    if found is None:
        file = code.co_filename
        generated = file.startswith("<") and not file.startswith("<ipython")
        generated = generated or GENERATED.search(file) is not None
        found = _OWN[code] = not (generated or is_library(file))
    return found


def is_of_library() -> bool:
    """Whether the innermost code that runs, ours and torch's left out, is an installed package's, and not
    the user's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if is_own(frame.f_code):
            return False
        package = in_package(file)
        if package is not None and not file.startswith(_OURS) and not _TORCH.search(file):
            return True
        frame = frame.f_back
    return False


def stack(depth: int = 1, most: int = _KEPT) -> tuple[Stack, CodeType | None]:
    """The user's lines that lead here, over the start of a thread, and the code that stands right above
    ``depth`` frames of ours."""
    frame: FrameType | None = sys._getframe(depth + 1)
    called = frame.f_code if frame is not None else None
    lines: list[Line] = []
    own = _OWN
    left = _DEEPEST
    while frame is not None and left:
        code = frame.f_code
        known = own.get(code)
        if known or (known is None and is_own(code)):
            lines.append(Line(code, frame.f_lasti, frame.f_lineno))
            if len(lines) == most:
                break
        frame = frame.f_back
        left -= 1
    if len(lines) < most:
        lines += getattr(_STARTED, "by", ())[: most - len(lines)]
    return tuple(lines), called


def started_by(lines: Stack) -> None:
    """Tells what the stacks of this thread go on with: the lines that started it."""
    _STARTED.by = lines
