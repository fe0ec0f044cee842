"""Which lines bring the parts of one batch to a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diagnose.kinds import EventKind, Origin
from diagnose.repair.observers.residency import by_library
from diagnose.tracing.lives import Event, Life

#: So many batches are looked at.
_BATCHES = 200
#: What runs as a function of its own and is part of the one that it is written in.
_WITHIN = frozenset({"<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<lambda>"})


class Parts:
    """Is told of copies; ``apart`` tells of each line that copies parts of a batch which lines of other
    functions copy parts of it too, all as ``file:line``. Lines of libraries do not count."""

    def __init__(self) -> None:
        self._batches: dict[int, tuple[Event, dict[str, int]]] = {}

    def copied(self, life: Life | None, event: Event) -> None:
        """Is told of a tensor's copy to a GPU, and of the tensor's life."""
        if life is None or life.maker != Origin.BATCH:
            return
        came = [one for one in life.events if one.what == EventKind.MADE]
        if not came or by_library() or len(self._batches) >= _BATCHES:
            return
        line = event.stack[0]
        named = (one.code for one in event.stack if one.code.co_name not in _WITHIN)
        _, lines = self._batches.setdefault(id(came[-1]), (came[-1], {}))
        lines[f"{line.code.co_filename}:{line.number}"] = id(next(named, line.code))

    @property
    def apart(self) -> Mapping[str, list[str]]:
        """The lines, by those that they share a batch with."""
        found: dict[str, set[str]] = {}
        for _, lines in self._batches.values():
            for line, code in lines.items():
                others = {other for other, where in lines.items() if where != code}
                found.setdefault(line, set()).update(others)
        return {line: sorted(others) for line, others in found.items() if others}


def whole(tensor: Any, event: Event) -> bool:
    """Whether something goes from the cpu to a GPU."""
    return tensor.device.type == "cpu" and str(event.device).startswith("cuda")
