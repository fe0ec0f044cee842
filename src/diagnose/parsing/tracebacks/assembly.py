"""From events to traces: which frames belong to which exception, and how exceptions hang together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from diagnose.model import Frame
from diagnose.parsing.tracebacks.events import Break, Called, Event, Head, Link, Raised, gist
from diagnose.parsing.tracebacks.tangled import untangle
from diagnose.patterns import lazy

Relation = Literal["during", "cause", "inner", "group"]

#: Messages whose next lines are the traceback of another process or thread.
_CARRIES = lazy(
    r"following error:\s*$|^Caught \w+ in |^ray::|terminated with|RemoteTraceback|^\s*$"
    r"|TorchScript interpreter"
)
_DUMPS = ("reversed", "stack", "debugger")
_MOST_FRAMES = 1000
#: Lines between the announcement of an ignored exception and its traceback: the future, the object.
_ANNOUNCING = 3


class Trace(NamedTuple):
    """One exception with its frames, outermost first; ``type`` is None where its line was cut off.

    ``relation`` says how it belongs to the trace before it: raised while handling that, raised from
    that, the original that it carries, or its neighbour in an exception group. A ``dump`` shows where a
    process stood when it was asked or killed, not an exception. ``captured``: a test printed it before it
    failed. ``processes``: so many printed it at once.
    """

    frames: tuple[Frame, ...]
    type: str | None
    message: str
    at: int
    relation: Relation | None = None
    sure: bool = True
    ignored: bool = False
    headed: bool = False
    dump: bool = False
    captured: bool = False
    processes: int = 1

    @property
    def gist(self) -> tuple[str | None, str]:
        """What it has in common with others of its kind."""
        return gist(self.type, self.message)


class _State:  # no dataclass: importing those takes longer than to read a traceback
    def __init__(self) -> None:
        self.traces: list[Trace] = []
        self.frames: list[Frame] = []
        self.head: Head | None = None
        self.relation: Relation | None = None
        self.ignored = 0  # so many more lines may stand before a traceback that nobody waited for
        self.captured = False
        self.repeated = False  # what comes is shown a second time
        self.user_code = False
        self.adjacent = False  # nothing but frames came since the latest exception


def assemble(events: Iterable[Event]) -> list[Trace]:
    """The traces of one channel, in the order of the lines that end them."""
    state = _State()
    for event in untangle(events):
        if isinstance(event, Called):
            _call(state, event.frame)
        elif isinstance(event, Raised):
            _raise(state, event)
        elif isinstance(event, Head):
            _head(state, event)
        elif isinstance(event, Link):
            _link(state, event)
        elif isinstance(event, Break):
            _close(state)
            state.ignored = max(0, state.ignored - 1)
            state.adjacent = False
            state.relation = None
    _close(state)
    return state.traces


def _call(state: _State, frame: Frame) -> None:
    if state.repeated:
        return
    if not state.frames and state.head is None and state.adjacent and state.traces:
        last = state.traces[-1]
        if last.message.startswith("ray::") and state.relation is None:
            state.relation = "inner"
    if len(state.frames) >= _MOST_FRAMES:
        del state.frames[_MOST_FRAMES // 2]  # a runaway recursion: its two ends tell
    state.frames.append(frame)


def _raise(state: _State, event: Raised) -> None:
    if state.user_code and state.traces and not state.traces[-1].message:
        state.traces.pop()  # announced without its message, which is this one
        state.user_code = False
    if state.user_code:
        _close(state)
    frames = _ordered(state)
    if not frames and state.head is None and state.adjacent:
        if not event.sure:
            return  # mentioned once more below its traceback
        carrier = state.traces[-1].message if state.traces else ""
        if carrier.startswith("ray::") and state.relation is None:
            state.relation = "inner"
    state.traces.append(
        Trace(
            frames=frames,
            type=event.type,
            message=event.message,
            at=event.at,
            relation=state.relation,
            sure=event.sure or bool(frames),
            ignored=state.ignored > 0,
            headed=state.head is not None,
            captured=state.captured,
            processes=state.head.processes if state.head is not None else 1,
        )
    )
    _reset(state)
    state.adjacent = True


def _head(state: _State, event: Head) -> None:
    _close(state)
    last = state.traces[-1] if state.traces else None
    if event.kind == "inner" or (
        last is not None
        and state.adjacent
        and state.relation is None
        and (_CARRIES.search(last.message) or (last.type or "").endswith("RemoteTraceback"))
    ):
        state.relation = "inner" if last is not None else None
    state.head = event


def _link(state: _State, event: Link) -> None:
    if event.kind == "shown-above":
        state.repeated = bool(state.frames)
        return
    if event.kind == "shown-below":
        state.frames = []
        return
    if event.kind == "section" and not state.captured:
        return  # a rule that any program may print
    _close(state)
    if event.kind == "user-code":
        state.user_code = bool(state.traces)
    elif event.kind == "ignored":
        state.ignored = _ANNOUNCING
    elif event.kind == "captured" or event.kind == "section":
        state.captured = event.kind == "captured"
        state.adjacent = False
    elif state.traces:
        state.relation = event.kind


def _close(state: _State) -> None:
    """Ends a traceback whose exception was not printed, or was printed before its frames."""
    if not state.frames:
        if state.head is not None:
            state.head = None
        state.user_code = False
        return
    frames = _ordered(state)
    last = state.traces[-1] if state.traces else None
    if last is not None and state.user_code:
        state.traces[-1] = last._replace(frames=last.frames + frames)
    elif (
        last is not None
        and state.adjacent
        and not last.frames
        and state.relation is None
        and (state.head is None or state.head.kind != "stack")
    ):
        state.traces[-1] = last._replace(frames=frames, headed=state.head is not None, sure=True)
    else:
        state.traces.append(
            Trace(
                frames=frames,
                type=None,
                message="",
                at=frames[-1].at or 0,
                relation=state.relation,
                ignored=state.ignored > 0,
                headed=state.head is not None,
                dump=state.head is not None and state.head.kind in _DUMPS,
                captured=state.captured,
            )
        )
    _reset(state)


def _reset(state: _State) -> None:
    state.frames = []
    state.head = None
    state.relation = None
    state.ignored = 0
    state.repeated = False
    state.user_code = False


def _ordered(state: _State) -> tuple[Frame, ...]:
    """The frames, outermost first: some forms print the most recent call first."""
    frames = tuple(state.frames)
    turned = state.head is not None and state.head.kind == "reversed"
    if state.head is None and len(frames) > 1:
        turned = frames[-1].function == "<module>" and frames[0].function != "<module>"
    return frames[::-1] if turned else frames
