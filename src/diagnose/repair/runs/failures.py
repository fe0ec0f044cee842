"""How a run ended: where in the user's code, and what two failures have to share to be one."""

from __future__ import annotations

import linecache
import os
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from diagnose.repair.model import Failure
from diagnose.repair.synthesis.candidates import is_alone, is_placement
from diagnose.repair.workspace import Workspace

#: So many folders above the user's are looked into for a module.
_PARENTS = 3
#: A frame of the traceback that torch puts into the error of a replica or of a loader's worker.
_HANDED_ON = re.compile(
    r'^ *File "(?P<file>.+)", line (?P<line>\d+), in (?P<function>.+)\n'
    r"(?P<text> +.*)(?:\n(?P<carets>[ ~^]+)$)?",
    re.MULTILINE,
)
#: What an edit adds to an expression: it fails as before where nothing else of it has changed.
_MOVED = re.compile(
    r"\.(?:to|cuda|cpu|detach)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
    r"|, device=(?:[^(),]|\((?:[^()]|\([^()]*\))*\))*"
)


class _Frame(NamedTuple):
    """A frame of a traceback; ``text`` is the expression that failed, or its whole line."""

    file: str
    line: int
    function: str
    text: str


def failure(error: BaseException, workspace: Workspace) -> Failure:
    """What a run ended with; where a thread or a worker failed and torch hands its error on, what that one
    ended with."""
    told = traceback.TracebackException.from_exception(error)
    sentence = f"{type(error).__name__}: {told}"
    frames = [*map(_frame, told.stack), *_handed_on(sentence)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append(_Frame(error.filename, error.lineno or 0, "", (error.text or "").strip()))
    own = [frame for frame in frames if workspace.path_of(frame.file)]
    place = key = ""
    for frame in (own or frames)[-1:]:
        file = workspace.path_of(frame.file) or frame.file
        place = f"{file}:{frame.line}"
        key = f"{file} {frame.function} {_MOVED.sub('', frame.text).strip()}"
    placement = is_placement(error)
    alone = placement and is_alone(error)
    above = _above(error, workspace)
    return Failure(sentence, place, f"{key} {_plain(sentence)}", placement, alone, above)


def _above(error: BaseException, workspace: Workspace) -> str:
    """The folder above the user's in which lies what was not found: only that folder was copied."""
    origin = workspace.origin
    match error:
        case ModuleNotFoundError(name=str(name)):
            root = name.partition(".")[0]
            for folder in origin.parents[:_PARENTS]:
                if (folder / root).is_dir() or (folder / f"{root}.py").is_file():
                    return str(folder)
        case FileNotFoundError(filename=str(file)) if Path(file).is_absolute():
            there = os.path.relpath(file, workspace.folder)
            path = Path(os.path.normpath(origin / there))
            if there.startswith(os.pardir) and path.exists():
                return os.path.commonpath([origin, path.parent])
    return ""


def _frame(summary: traceback.FrameSummary) -> _Frame:
    line, text = summary.lineno or 0, summary.line or ""
    start, end = getattr(summary, "colno", None), getattr(summary, "end_colno", None)
    if start is not None and getattr(summary, "end_lineno", None) == line:
        text = linecache.getline(summary.filename, line)[start:end] or text
    return _Frame(summary.filename, line, summary.name, text)


def _handed_on(sentence: str) -> Iterator[_Frame]:
    for found in _HANDED_ON.finditer(sentence):
        text, carets = found["text"], found["carets"] or ""
        start = len(carets) - len(carets.lstrip())
        failed = text[start : len(carets)] if carets.strip() else text
        yield _Frame(found["file"], int(found["line"]), found["function"], failed)


def _plain(sentence: str) -> str:
    """An error without its addresses and paths; of one that was handed on its last words."""
    lines = sentence.strip().splitlines() or [""]
    last = lines[-1 if _HANDED_ON.search(sentence) else 0]
    return re.sub(r"0x[0-9a-f]+", "0x", last)
