"""From a live failure to the edits that its answer proposes, best first."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from diagnose.bulkhead import guarded
from diagnose.casebase.store import load
from diagnose.hooks.live import explain, printed
from diagnose.inputs import opened
from diagnose.model import DEVICE_FAMILY, Diagnosis, RankedCause
from diagnose.parsing import parse
from diagnose.pipeline import diagnose
from diagnose.repairing.model import Candidate, Failure
from diagnose.repairing.workspace import Workspace
from diagnose.sources import Folder, Sources

#: So many causes' fixes are tried.
_CAUSES = 8
#: It adds a move where values meet. Where another fix of the cause comes before it in kb/, that one
#: mends what is wrong.
_MEETS = "move-tensor-at-line"
#: Fixes that move a value to where others are.
_MOVES = (_MEETS, "move-input", "index-to-device")


def failure(error: BaseException, workspace: Workspace) -> Failure:
    """What a run ended with."""
    told = traceback.TracebackException.from_exception(error)
    sentence = f"{type(error).__name__}: {told}"
    own = [frame for frame in told.stack if workspace.path_of(frame.filename)]
    frame = own[-1] if own else (told.stack[-1] if told.stack else None)
    place = key = ""
    if frame is not None:
        file = workspace.path_of(frame.filename) or frame.filename
        place = f"{file}:{frame.lineno}"
        key = f"{file} {frame.name} {(frame.line or '').strip()}"
    return Failure(sentence, place, f"{key} {_plain(sentence)}", is_placement(error))


def _plain(sentence: str) -> str:
    """An error without its addresses and paths."""
    return re.sub(r"0x[0-9a-f]+", "0x", sentence.partition("\n")[0])


def is_placement(error: BaseException) -> bool:
    """Whether an exception is a failure of device placement."""
    report = parse(printed(error), "traceback", knowledge=load().knowledge)
    return report.error is not None and report.error.family == DEVICE_FAMILY


def candidates(
    error: BaseException, workspace: Workspace
) -> tuple[list[Candidate], dict[str, Any] | None]:
    """The edits of the user's files that the answer proposes, likeliest cause first, each only once; and
    the answer as JSON."""
    from diagnose.rendering.json import as_dict

    answer = explain(error, top=_CAUSES)
    found = _of_answer(answer, workspace)
    more = guarded("moves", lambda: list(_of_values(error, answer, workspace)), list[Candidate]())
    found += [one for one in more if not _known(one, found)]
    return found, as_dict(answer)


def of_log(log: str, workspace: Workspace) -> tuple[Candidate, ...]:
    """The edits that the answer to a traceback or a log proposes.

    Raises:
        InputError: it cannot be read.
    """
    sources = Sources([Folder(str(workspace.fresh({})))], read=None)
    with opened(log) as stream:
        answer = diagnose(stream, log, sources=sources, top=_CAUSES)
    return tuple(_of_answer(answer, workspace))


def _of_answer(answer: Diagnosis, workspace: Workspace) -> list[Candidate]:
    found: list[Candidate] = []
    for cause in answer.causes:
        for one in _of_cause(cause, workspace):
            if not _known(one, found):
                found.append(one)
    return found


def _known(one: Candidate, found: list[Candidate]) -> bool:
    return any(one.patch == other.patch and one.file == other.file for other in found)


def _of_values(
    error: BaseException, answer: Diagnosis, workspace: Workspace
) -> Iterator[Candidate]:
    """The edits that only the values in the failing frames speak for."""
    from diagnose.repairing.moving import moves

    if not answer.causes:
        return
    cause = answer.causes[0]
    kinds = [fix.kind for fix in load().causes[cause.id].fixes if fix.kind in _MOVES]
    for one in moves(error, lambda file: workspace.path_of(file) is not None):
        file, edit = workspace.path_of(one.edit.file), one.edit
        if file is not None and edit.diff is not None:
            because = f"seen in the failing call: {one.title}"
            kind = kinds[0] if kinds else one.kind
            yield Candidate(
                cause.id, because, kind, one.title, file, edit.line, edit.diff, one.stopgap
            )


def _of_cause(cause: RankedCause, workspace: Workspace) -> list[Candidate]:
    kinds = [fix.kind for fix in load().causes[cause.id].fixes]
    because = cause.evidence[0].text if cause.evidence else cause.why
    found = []
    for fix in cause.fixes:
        if fix.patch is None or fix.edit is None or fix.edit.line is None:
            continue
        file = workspace.path_of(fix.edit.file)
        if file is None and not Path(fix.edit.file).is_absolute():
            file = workspace.path_of(str(Path.cwd() / fix.edit.file))
        if file is not None:
            stopgap = fix.kind == _MEETS and kinds[0] != _MEETS
            found.append(
                Candidate(
                    cause.id,
                    because.replace(f"{workspace.folder}/", ""),
                    fix.kind,
                    fix.title,
                    file,
                    fix.edit.line,
                    fix.patch,
                    stopgap,
                )
            )
    return found
