"""From a live failure to the edits that its answer proposes, best first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diagnose.bulkhead import guarded
from diagnose.casebase.store import load
from diagnose.fixes import leaves_unregistered
from diagnose.hooks.live import explain, printed
from diagnose.inputs import opened
from diagnose.kinds import ConstraintKind
from diagnose.model import DEVICE_FAMILY, Diagnosis, Lang, RankedCause
from diagnose.parsing import parse
from diagnose.pipeline import diagnose
from diagnose.repair.model import Candidate, Source
from diagnose.repair.synthesis.agreement import agreeing
from diagnose.repair.synthesis.device_roots import rooted
from diagnose.repair.words import say
from diagnose.repair.workspace import Workspace
from diagnose.sources import Folder, Sources

if TYPE_CHECKING:
    from diagnose.repair.synthesis.live_failure import Proposal

#: So many causes' fixes are tried.
_CAUSES = 8
#: What a sentence says that a kernel refuses tensors with.
_KERNEL = "gpu-kernel"
#: Fixes that move a value to where others are.
_MOVES = ("move-tensor-at-line", "move-input", "index-to-device")
#: Where a line moves something.
_SENT = re.compile(r"\.to\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")
#: Failures that say of themselves what they are, wherever the tensors were.
_TOLD = ("shape-mismatch", "dtype-mismatch", "autograd")
#: The cause where the answer knows none: a check of the program's own refuses tensors.
_REFUSED = "kernel-needs-gpu"
#: What a fix mends by itself, where several causes begin with it.
_MENDED = {"move-module": "module-not-moved", "move-input": "input-not-moved"}


def is_placement(error: BaseException) -> bool:
    """Whether an exception is a failure of device placement: by what it says, or raised by a check of the
    program's that asks where tensors are."""
    report = parse(printed(error), "traceback", knowledge=load().knowledge)
    family = report.error.family if report.error is not None else None
    if family in (DEVICE_FAMILY, *_TOLD):
        return family == DEVICE_FAMILY
    return _met(error) in (ConstraintKind.KERNEL, ConstraintKind.JOIN)


def is_alone(error: BaseException) -> bool:
    """Whether what failed is all on the cpu, and a kernel or a check asks for a GPU."""
    if (what := _met(error)) is not None:
        return what == ConstraintKind.KERNEL
    mismatch = parse(printed(error), "traceback", knowledge=load().knowledge).mismatch
    return mismatch is not None and (
        _KERNEL in mismatch.says or (mismatch.expected or "").lower().startswith("cuda")
    )


def _met(error: BaseException) -> ConstraintKind | None:
    """What kind of meeting a failure is, as far as a recorder saw it."""
    from diagnose.repair.synthesis.live_failure import live_failure

    found = live_failure(error).met
    return found.meeting.what if found is not None else None


def candidates(
    error: BaseException, workspace: Workspace, lang: Lang = "en"
) -> tuple[list[Candidate], dict[str, Any] | None]:
    """The edits of the user's files that the answer proposes, likeliest cause first, each only once; and
    the answer as JSON."""
    from diagnose.rendering.json import as_dict

    answer = explain(error, lang=lang, top=_CAUSES)
    more = guarded("proposals", partial(_proposed, error), [])
    every = [*_of_answer(answer, workspace), *_of_proposals(more, answer, workspace)]
    found = _distinct(every)
    unwitnessed = [one._replace(agrees=False) for one in found]
    told = guarded("agreeing", partial(_witnessed, error, found, workspace), unwitnessed)
    told += guarded("rooted", partial(rooted, told, workspace), [])
    return told, as_dict(answer)


def _witnessed(
    error: BaseException, found: Sequence[Candidate], workspace: Workspace
) -> list[Candidate]:
    """Edits, and of each whether the answer to what the failure prints, and to the files that it names,
    agrees: it has seen nothing live. What its likeliest cause would edit besides comes after what the live
    answer proposes."""
    sources = Sources([Folder(str(workspace.folder))], read=None)
    answer = diagnose(printed(error), "traceback", casebase=load(), sources=sources, top=_CAUSES)
    read = _of_answer(answer, workspace)
    first = answer.causes[0].id if answer.causes else None
    likeliest = [one for one in read if one.cause == first]
    live = sum(one.source == "answer" for one in found)
    known = {(one.file, one.patch) for one in found}
    more = [one for one in likeliest if (one.file, one.patch) not in known]
    every = [*found[:live], *more, *found[live:]]
    return agreeing(every, answer, read, workspace.path_of)


def of_log(log: str, workspace: Workspace, lang: Lang = "en") -> tuple[Candidate, ...]:
    """The edits that the answer to a traceback or a log proposes.

    Raises:
        InputError: it cannot be read.
    """
    sources = Sources([Folder(str(workspace.fresh({})))], read=None)
    with opened(log) as stream:
        answer = diagnose(stream, log, casebase=load(lang=lang), sources=sources, top=_CAUSES)
    found = _of_answer(answer, workspace)
    return tuple(agreeing(found, answer, found, workspace.path_of))


def _of_answer(answer: Diagnosis, workspace: Workspace) -> list[Candidate]:
    return _distinct(one for cause in answer.causes for one in _of_cause(cause, workspace))


def _distinct(found: Iterable[Candidate]) -> list[Candidate]:
    """Edits, each only once, before it the one of all like it in its line."""
    every = (each for one in found for each in (*_together(one), one))
    known: dict[tuple[str, str], Candidate] = {}
    for one in every:
        known.setdefault((one.file, one.patch), one)
    return list(known.values())


def _together(one: Candidate) -> Iterator[Candidate]:
    """An edit of one of several moves of a line that go to the same device: all of them."""
    rows = [row for row in one.patch.splitlines(keepends=True) if row[:3] not in ("---", "+++")]
    gone, made = ([row for row in rows if row[:1] == sign] for sign in "-+")
    if len(gone) != 1 or len(made) != 1:
        return
    old, new = (_SENT.findall(row[1:]) for row in (gone[0], made[0]))
    apart = [(was, now) for was, now in zip(old, new, strict=False) if was != now]
    if len(old) != len(new) or len(apart) != 1:
        return
    ((was, now),) = apart
    if old.count(was) > 1:
        every = made[0].replace(f".to({was})", f".to({now})")
        yield one._replace(patch=one.patch.replace(made[0], every))


def _proposed(error: BaseException) -> list[tuple[Source, Proposal]]:
    """The edits that only a live failure supports."""
    from diagnose.repair.synthesis.proposers import proposals

    return list(proposals(error))


def _of_proposals(
    proposals: Sequence[tuple[Source, Proposal]], answer: Diagnosis, workspace: Workspace
) -> Iterator[Candidate]:
    for source, one in proposals:
        file, edit = workspace.path_of(one.edit.file), one.edit
        if file is None or edit.diff is None:
            continue
        cause = one.cause or _cause_of(one.kind, answer)
        known, kind = load().causes[cause], one.kind
        if source == "values" and kind in _MOVES:
            kind = next((fix.kind for fix in known.fixes if fix.kind in _MOVES), kind)
        title = _title(one, answer.lang)
        because = say(answer.lang, source, title=title)
        stopgap = one.stopgap or leaves_unregistered(kind, known)
        yield Candidate(cause, because, kind, title, file, edit.line, edit.diff, stopgap, source)


def _title(proposal: Proposal, lang: Lang) -> str:
    if proposal.says:
        return say(lang, proposal.says)
    if proposal.moves is None:
        return load(lang=lang).fixes[proposal.kind]
    names, device = proposal.moves
    return say(lang, "move", names=names, device=device)


def _cause_of(kind: str, answer: Diagnosis) -> str:
    """The likeliest cause that a fix is of; where it is of none of them, the one that it mends first."""
    causes = load().causes
    likely = [cause.id for cause in answer.causes]
    for cause in likely:
        if kind in _MOVES or any(fix.kind == kind for fix in causes[cause].fixes):
            return cause
    firsts = [one.id for one in causes.values() if one.fixes and one.fixes[0].kind == kind]
    return _MENDED.get(kind) or (firsts or likely or [_REFUSED])[0]


def _of_cause(cause: RankedCause, workspace: Workspace) -> list[Candidate]:
    because = workspace.told(cause.evidence[0].text if cause.evidence else cause.why)
    found = []
    for fix in cause.fixes:
        if fix.patch is None or fix.edit is None or fix.edit.line is None:
            continue
        file = workspace.path_of(fix.edit.file)
        if file is None and not Path(fix.edit.file).is_absolute():
            file = workspace.path_of(str(Path.cwd() / fix.edit.file))
        if file is not None:
            found.append(
                Candidate(
                    cause.id,
                    because,
                    fix.kind,
                    fix.title,
                    file,
                    fix.edit.line,
                    fix.patch,
                    fix.stopgap,
                )
            )
    return found
