"""Branches of which one runs: what a program knows where they meet again."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence

from diagnose.placement.machine import joined
from diagnose.placement.tensors import Module
from diagnose.placement.values import Frame, Object, Value


def own_attributes(frame: Frame) -> dict[str, Value]:
    """The attributes of the object whose method this is; of a module those that are not registered."""
    if isinstance(frame.this, Module):
        return frame.this.plain
    return frame.this.attributes if isinstance(frame.this, Object) else {}


def join(held: MutableMapping[str, Value], after: Sequence[dict[str, Value]]) -> None:
    """Names hold what is in common to the ways by which a program came there."""
    for name in dict.fromkeys(name for names in after for name in names):
        value: Value | None = None
        for names in after:
            value = joined(value, names.get(name))
        if value is not None:
            held[name] = value
