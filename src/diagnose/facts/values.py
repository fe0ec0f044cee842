"""Values that the sentences of facts are filled with."""

from __future__ import annotations

from diagnose.model import Fact, Frame
from diagnose.paths import of_frame

#: What the sentences of kb/facts.toml may be filled with, where the report shows it.
NAMES = frozenset(
    {
        *("message", "devices", "found", "expected", "op", "argument"),
        *("place", "function", "code", "library", "text", "name", "index"),
        *("device", "other", "names", "count", "depth", "rank", "ranks", "title"),
    }
)

#: What a call of an object enters: a module's method, or that of a plain class.
ENTERED = frozenset({"forward", "__call__"})
#: torch's own frames between the call of a module and its ``forward``.
CALLING = frozenset({"_call_impl", "_wrapped_call_impl"})


def at(fact: str, frame: Frame, **values: str) -> Fact:
    """A fact that rests on a frame; what the frame does not show is no value."""
    shown = {
        "place": of_frame(frame),
        "function": frame.function,
        "code": frame.code,
        "library": frame.library,
    }
    return Fact(fact, frame.at, values | {key: value for key, value in shown.items() if value})
