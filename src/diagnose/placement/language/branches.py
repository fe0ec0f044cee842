"""Branches of which one runs: what a program knows where they meet again."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence

from diagnose.placement.joining import joined
from diagnose.placement.tensors import Module
from diagnose.placement.values import Frame, Object, Value

#: Objects among the variables of a call that are told apart, and their attributes: more are data.
_OBJECTS = 8
_ATTRIBUTES = 200


class Attributes:
    """The attributes of the object whose method this is, and of others that variables hold; of
    a module those that are not registered.

    Each branch starts with those before it, by `start`, and ends by `end`; `join` is what they meet with.
    """

    def __init__(self, frame: Frame) -> None:
        own = _attributes(frame.this)
        objects = [one for one in frame.names.values() if isinstance(one, Object)]
        others = [_attributes(one) for one in objects if one.kind != "module"][:_OBJECTS]
        every = [own, *(one for one in others if len(one) < _ATTRIBUTES)]
        self._held = list({id(one): one for one in every}.values())
        self._outset = [dict(one) for one in self._held]
        self._after: list[list[dict[str, Value]]] = [[] for _ in self._held]

    def __len__(self) -> int:
        return sum(map(len, self._held))

    def start(self) -> None:
        """Puts them back as they were before the branches."""
        for held, outset in zip(self._held, self._outset, strict=True):
            held.clear()
            held.update(outset)

    def end(self) -> None:
        """Notes what a branch leaves: it stays there, wherever the branch leads."""
        for held, after in zip(self._held, self._after, strict=True):
            after.append(dict(held))

    def join(self) -> None:
        """Makes them what the branches have in common."""
        for held, after in zip(self._held, self._after, strict=True):
            join(held, after)


def _attributes(value: Value | None) -> dict[str, Value]:
    if isinstance(value, Module):
        return value.plain
    return value.attributes if isinstance(value, Object) else {}


def join(held: MutableMapping[str, Value], after: Sequence[dict[str, Value]]) -> None:
    """Names hold what is in common to the ways by which a program came there."""
    for name in dict.fromkeys(name for names in after for name in names):
        value: Value | None = None
        for names in after:
            value = joined(value, names.get(name))
        if value is not None:
            held[name] = value
