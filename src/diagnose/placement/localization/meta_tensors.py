"""What was made on meta, and never got memory: where it was made, or was to be filled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.kinds import ConstraintKind, EventKind
from diagnose.placement.devices import META
from diagnose.placement.localization.question import Question
from diagnose.placement.machine import Meeting
from diagnose.placement.model import Step
from diagnose.placement.provenance import Reason, first_of, last_of
from diagnose.placement.tensors import Module
from diagnose.placement.values import Value

#: How methods begin that prepare what they are given.
_PREPARES = ("prepare", "setup")


def of_empty(asked: Question) -> Reason | None:
    """Why an operand has no memory; None for one that was not made on meta."""
    meeting, value, tensor, born = asked.meeting, asked.stray.value, asked.tensor, asked.made
    if meeting.what == ConstraintKind.META:
        spot = meeting.spot
        if isinstance(value, Module) and (filled := _filled_at(value)) is not None:
            spot = filled.spot
        elif born is not None and isinstance(value, Module) and value.owner is not None:
            spot = born.spot  # all else was filled
        elif born is not None and not _is_moved_by(meeting):
            inner = next((s for one in _parts(value) for s in one.steps if s.of is not None), born)
            spot = inner.of or inner.spot  # a library prepares it, and moves what it is given
        return Reason("meta-tensor", spot, tensor.frame)
    if born is None or born.device != META or tensor.device not in (META, None):
        return None
    kept = asked.first(EventKind.KEPT)
    if kept is not None and tensor.module is not None and tensor.module.where() != META:
        # The weights were filled; what is no buffer has no one who fills it.
        return asked.at(kept, "meta-tensor", named=True)
    loaded = last_of(tensor.steps, EventKind.LOADED, EventKind.UNFILLED)
    return Reason("meta-tensor", loaded.spot if loaded else born.of or born.spot, tensor.frame)


def _parts(value: Value) -> Iterator[Module]:
    return value.family() if isinstance(value, Module) else iter(())


def _is_moved_by(meeting: Meeting) -> bool:
    """Whether a program's own call moves what has no memory, and no library's."""
    func = meeting.spot.node.func if isinstance(meeting.spot.node, ast.Call) else None
    return not isinstance(func, ast.Attribute) or not func.attr.startswith(_PREPARES)


def _filled_at(module: Module) -> Step | None:
    """The step that was to fill a module, or the one that it belongs to, with saved weights."""
    steps = (step for one in module.owners() for step in reversed(one.steps))
    return first_of(steps, EventKind.LOADED, EventKind.UNFILLED)
