"""Which of the errors in an input is the one to explain.

A chain is judged by its last exception, unless that only carries an earlier one; the ranks of a job by
the first failure that is not the echo of another's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from diagnose.model import DEVICE_FAMILY, Frame
from diagnose.parsing.tracebacks.assembly import Trace
from diagnose.patterns import lazy

#: Errors that report the death of another process, or the end of this one on request.
_ECHO_TYPES = frozenset((
    "ChildFailedError", "ProcessExitedException", "ProcessRaisedException", "CalledProcessError",
    "SignalException", "KeyboardInterrupt", "SystemExit", "BrokenProcessPool", "RemoteTraceback",
    "_RemoteTraceback", "ActorDiedError", "RayActorError", "CancelledError", "GeneratorExit",
    "BrokenBarrierError", "WorkerCrashedError", "TrialError", "NonZeroExitCode", "EOFError",
))  # fmt: skip
#: How a handler ends the process after an error: that error is what failed.
_ENDS = frozenset(("SystemExit", "KeyboardInterrupt", "Exit", "Abort"))
_ECHO = lazy(
    r"Connection (?:closed|reset) by peer|Connection refused|Socket Timeout|DataLoader worker \(pid"
    r"|terminated by signal"
    r"|process group (?:is|was) (?:destroyed|aborted)|communicator was aborted|watchdog|SIGTERM"
    r"|failed to recv|store->get|Broken pipe|another rank|remote process exited|NCCL communicator"
)
#: Where Python and its multiprocessing clean up: whatever fails below one of these as the process ends has
#: ended nothing.
_CLEANING_UP = frozenset((
    ("weakref.py", "_exitfunc"), ("resource_tracker.py", "main"), ("util.py", "_run_finalizers"),
    ("util.py", "_exit_function"), ("queues.py", "_feed"), ("atexit.py", "_run_exitfuncs"),
))  # fmt: skip
#: Where the exception of a worker is raised once more.
_RELAYS = frozenset((
    ("pool.py", "get"), ("pool.py", "next"), ("_base.py", "__get_result"),
    ("parallel.py", "_return_or_raise"),
))  # fmt: skip
_ECHO_FAMILIES = frozenset({"collective-communication"})


class Candidate(NamedTuple):
    """A chain's main exception: with its frames, family, and the exceptions around it."""

    trace: Trace
    family: str
    frames: tuple[Frame, ...]
    chain: tuple[Trace, ...]
    channel: str | None

    @property
    def ignored(self) -> bool:
        """True for what Python says that nobody caught or waited for."""
        return self.trace.ignored or any(trace.ignored for trace in self.chain)

    @property
    def relayed(self) -> bool:
        """True for an error that only says that another process failed, or that this one was ended."""
        return (self.trace.type or "").split(".")[-1] in _ECHO_TYPES

    @property
    def echo(self) -> bool:
        """True for what only follows from another process's failure."""
        return self.relayed or self._cleaning_up or _echoes(self.trace, self.family)

    @property
    def final(self) -> bool:
        """True for an error that can have ended a process."""
        trace = self.trace
        return (
            trace.type is not None and trace.sure and not (self.ignored or trace.dump or self.echo)
        )

    @property
    def _cleaning_up(self) -> bool:
        """True for what failed while the process was being ended."""
        return _at(self.frames[:1]) in _CLEANING_UP


def _echoes(trace: Trace, family: str) -> bool:
    return family in _ECHO_FAMILIES or bool(_ECHO.search(trace.message[:2000]))


def _at(frames: Sequence[Frame]) -> tuple[str, str | None] | None:
    """The name of the file and the function of the one frame, if there is one."""
    return (re.split(r"[\\/]", frames[0].file)[-1], frames[0].function) if frames else None


def _name(trace: Trace) -> str:
    return (trace.type or "").split(".")[-1]


Judge = Callable[[Trace], str]


def candidates(
    channels: Iterable[tuple[str | None, Sequence[Trace]]], family: Judge
) -> list[Candidate]:
    """One candidate a chain, in the order of their lines."""
    found = [
        _candidate(chain, family, channel)
        for channel, traces in channels
        for chain in _chains(traces)
    ]
    return sorted(found, key=lambda candidate: candidate.trace.at)


def choose(found: Sequence[Candidate], first_rank: str | None = None) -> Candidate | None:
    """The failure to explain. ``first_rank``: the channel that the launcher says failed first."""
    *_, last = rounds(found, first_rank)
    return last[0][0] if last[0] else None


#: The candidates that a rule leaves, and what speaks against those that it takes out.
Round = tuple[Sequence[Candidate], str]
#: What is preferred, in this order, where there is any; and what speaks against the rest.
_PREFERRED: tuple[tuple[Callable[[Candidate], bool], str], ...] = (
    (lambda c: not c.ignored, "Python only tells of it: nobody caught or waited for it"),
    (lambda c: not c.trace.dump, "stacks that were shown, no error that was raised"),
    (lambda c: not c.echo, "it only follows from the failure or the end of another process"),
    (lambda c: not c.relayed, "it only says that another process failed"),
    (lambda c: not c.trace.captured, "the report of a test quotes it"),
    (lambda c: c.trace.sure, "it may be a mere mention of an error"),
    (lambda c: bool(c.frames) or c.trace.type is not None, "it has neither frames nor a type"),
)


def rounds(found: Sequence[Candidate], first_rank: str | None = None) -> Iterator[Round]:
    """The choice step by step: the first candidate of the last round is the one to explain."""
    pool = list(found)
    for wanted, against in _PREFERRED:
        pool = _prefer(pool, wanted)
        yield pool, against
    last_of = {c.channel: c for c in pool}  # in one process, what ended it came last
    finals = sorted((_framed(c, pool) for c in last_of.values()), key=lambda c: c.trace.at)
    yield finals, "a later error ended its process"
    if first_rank is not None and first_rank in last_of:
        first = [c for c in finals if c.channel == first_rank]
        yield first, "the launcher says that another rank failed first"
        return
    finals = _prefer(finals, lambda c: bool(c.frames) and c.trace.type is not None)
    yield finals, "its frames or its type are not shown"
    finals = _prefer(finals, lambda c: c.channel is not None)
    yield finals, "nothing tells which process printed it"
    yield finals[:1], "another process failed before it"


def _framed(final: Candidate, pool: Sequence[Candidate]) -> Candidate:
    """The candidate; where its traceback has no header (ranks that print at once, into each other) or no
    frames (pasted in part), with the frames of the like error that has most of them: of the same
    process if it can be."""
    if final.trace.headed and final.frames:
        return final
    alike = [c for c in pool if c.frames and c.trace.gist == final.trace.gist]
    alike = _prefer(alike, lambda c: c.channel == final.channel)
    best = max(alike, key=lambda c: (len(c.frames), c.trace.at), default=final)
    return final if len(final.frames) == len(best.frames) else final._replace(frames=best.frames)


def kind(candidate: Candidate) -> object:
    """What makes two failures of a log one and the same: what was said, and where."""
    last = candidate.frames[-1] if candidate.frames else None
    return candidate.trace.gist, last and (last.file, last.line, last.function)


def counts(candidate: Candidate, chosen: Candidate) -> bool:
    """True for a failure in its own right beside the chosen one: no echo, no mere mention."""
    return candidate.final and (bool(candidate.frames) or not chosen.frames)


def _prefer(pool: list[Candidate], wanted: Callable[[Candidate], bool]) -> list[Candidate]:
    return [c for c in pool if wanted(c)] or pool


def _chains(traces: Sequence[Trace]) -> list[list[Trace]]:
    chains: list[list[Trace]] = []
    for trace in traces:
        if trace.relation is not None and chains:
            chains[-1].append(trace)
        else:
            chains.append([trace])
    return chains


def _candidate(chain: Sequence[Trace], family: Judge, channel: str | None) -> Candidate:
    main = len(chain) - 1
    frames = chain[main].frames
    remote = any((trace.type or "").endswith("RemoteTraceback") for trace in chain)
    while main > 0:
        trace, before = chain[main], chain[main - 1]
        if _name(trace) in _ENDS and trace.relation in ("during", "cause"):
            main -= 1
            frames = before.frames
            continue
        if trace.relation == "group":
            main = _member(chain, family)
            frames = chain[main].frames
            break
        if trace.relation == "inner":
            frames = _outer(chain, main) + frames
            break
        if not _carries(chain, main, family, remote=remote):
            break
        main -= 1
        frames = _splice(frames, before.frames)
    chosen = chain[main]
    others = tuple(t for i, t in enumerate(chain) if i != main and t.type)
    return Candidate(chosen, family(chosen), frames, others, channel)


def _member(chain: Sequence[Trace], family: Judge) -> int:
    """The index of the member that explains a group: its members stand side by side, so the first of
    those about devices, else the first that is no group itself."""
    members = [i for i, trace in enumerate(chain) if trace.relation == "group"]
    single = [i for i in members if not (chain[i].type or "").endswith("Group")] or members
    return next((i for i in single if family(chain[i]) == DEVICE_FAMILY), single[0])


def _outer(chain: Sequence[Trace], main: int) -> tuple[Frame, ...]:
    """The frames of the wrappers that stand before an original traceback."""
    frames: tuple[Frame, ...] = ()
    index = main
    while index > 0 and chain[index].relation == "inner":
        index -= 1
        frames = chain[index].frames + frames
    return frames


def _carries(chain: Sequence[Trace], index: int, family: Judge, *, remote: bool) -> bool:
    """True where an exception only passes on the one before it: from another process or thread, or because
    its message holds that of a device error, or because it was raised for one."""
    trace, before = chain[index], chain[index - 1]
    if (before.type or "").endswith("RemoteTraceback") or before.type is None:
        return False
    said = " ".join(before.message.split())[:120]
    quoted = bool(said) and said in " ".join(trace.message.split())
    if remote or _at(trace.frames[-1:]) in _RELAYS:
        return quoted
    if trace.relation == "during" and _echoes(trace, family(trace)):
        return not _echoes(before, family(before))  # cleaning up failed as well
    if family(before) == DEVICE_FAMILY and quoted:
        return True
    if family(trace) == DEVICE_FAMILY or not (trace.relation == "cause" or _wraps(trace, before)):
        return False
    return family(before) == DEVICE_FAMILY or (
        index > 1
        and before.relation in ("during", "cause")
        and _carries(chain, index - 1, family, remote=remote)
    )


def _wraps(trace: Trace, before: Trace) -> bool:
    """True where the very function that caught an error raises another one in its place."""
    if trace.relation != "during" or not trace.frames or not before.frames:
        return False
    raising, caught = trace.frames[-1], before.frames[0]
    here = (raising.file, raising.function) == (caught.file, caught.function)
    return here and (raising.code or "raise").startswith("raise")


def _splice(outer: tuple[Frame, ...], inner: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Inner frames put where the outer ones call them; after them where another process ran them."""
    if inner:
        for index, frame in enumerate(outer):
            if (frame.file, frame.function) == (inner[0].file, inner[0].function):
                return outer[:index] + inner
    return outer + inner


def without_type(candidate: Candidate, kind: str | None, message: str, at: int) -> Candidate:
    """The candidate with an exception that was found elsewhere in the text."""
    return candidate._replace(trace=candidate.trace._replace(type=kind, message=message, at=at))
