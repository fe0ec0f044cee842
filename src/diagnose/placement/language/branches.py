"""Branches of which one runs: what a program knows where they meet again."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from functools import reduce
from typing import Any

from diagnose.placement.devices import CPU
from diagnose.placement.journal import Change, since, taken_back
from diagnose.placement.lattice import joined
from diagnose.placement.machine import Machine
from diagnose.placement.tensors import Module
from diagnose.placement.values import Frame, Object, Unknown, Value

#: Objects among the variables of a call that are told apart, and their attributes: more are data.
_OBJECTS = 8
_ATTRIBUTES = 200


class Ways:
    """What modules and batches are by each of the ways on which a program goes on from here.

    Each starts as it was here and ends by `end`, which undoes what it did; `join` is what they meet with.
    """

    def __init__(self, machine: Machine) -> None:
        self._changes = machine.changes
        self._mark = len(machine.changes)
        self._after: list[dict[tuple[int, str], Change]] = []

    def leave(self) -> None:
        """Notes a way that goes on from here behind what is left; it is another's to undo it."""
        self._after.append(since(self._changes, self._mark))

    def end(self, *, goes_on: bool = True) -> None:
        """Undoes what a way did; it is noted if the program goes on from there."""
        after = taken_back(self._changes, self._mark)
        if goes_on:
            self._after.append(after)

    def left(self) -> bool:
        """Whether a way was noted."""
        return bool(self._after)

    def join(self) -> None:
        """Makes modules and batches what the ways have in common."""
        changed = {key: one for after in self._after for key, one in after.items()}
        for key, (value, name, _) in changed.items():
            now = getattr(value, name)
            each = [after[key][2] if key in after else now for after in self._after]
            setattr(value, name, _met(name, now, each))


def _met(name: str, now: Any, each: Sequence[Any]) -> object:
    """An attribute where ways meet: where they put something apart, nobody knows where it is. What
    led there is told as the way tells it on which most was done."""
    if name == "device":
        others = [one for one in each if one != now]
        # What a mode sends back to the host, and nothing else moves, is what fails next.
        back = now != CPU and all(one == CPU for one in others)
        return CPU if others and back else each[0] if len(set(each)) == 1 else None
    if name == "inner":
        return reduce(joined, each)
    if name == "tensors":
        names = dict.fromkeys(word for one in each for word in one)
        return {word: reduce(joined, [one[word] for one in each if word in one]) for word in names}
    return max(each, key=len) if name == "steps" else each[-1]


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
        value = after[0].get(name) or Unknown()
        for names in after[1:]:
            one = names.get(name)
            if one is not value:  # most are the same, and nothing is to be joined
                value = joined(value, one)
        held[name] = value
