"""Branches of which one runs: what a program knows where they meet again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import zip_longest
from typing import Any

from diagnose.placement.devices import CPU
from diagnose.placement.journal import CONTENT, Change
from diagnose.placement.lattice import joined
from diagnose.placement.machine import Machine
from diagnose.placement.values import Value

#: So many entries of a dict or list are copied in the time of a node.
_COPIED = 4


class Ways:
    """What variables and values are by each of the ways on which a program goes on from here.

    Each starts as it was here and ends by `end`, which undoes what it did; `join` is what they meet with.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._mark = machine.changes.mark()
        self._after: list[dict[tuple[int, str], Change]] = []

    def leave(self) -> None:
        """Notes a way that goes on from here behind what is left; it is another's to undo it."""
        self._after.append(self._machine.changes.since(self._mark))

    def end(self, *, goes_on: bool = True) -> None:
        """Undoes what a way did; it is noted if the program goes on from there."""
        after = self._machine.changes.take_back(self._mark)
        if goes_on:
            self._after.append(after)

    def left(self) -> bool:
        """Whether a way was noted."""
        return bool(self._after)

    def join(self) -> None:
        """Makes variables and values what the ways have in common."""
        changed = {key: one for after in self._after for key, one in after.items()}
        for key, (value, name, _) in changed.items():
            self._machine.spend(len(value) // _COPIED if name == CONTENT else 0)
            now = value if name == CONTENT else getattr(value, name)
            each = [after[key][2] if key in after else now for after in self._after]
            if name == CONTENT:
                value.restore(_content(each))
            else:
                setattr(value, name, _met(name, now, each))


def _met(name: str, now: Any, each: Sequence[Any]) -> object:
    """An attribute where ways meet: where they put something apart, nobody knows where it is. What
    led there is told as the way tells it on which most was done."""
    if name == "device":
        others = [one for one in each if one != now]
        # What a mode sends back to the host, and nothing else moves, is what fails next.
        back = now != CPU and all(one == CPU for one in others)
        return CPU if others and back else each[0] if len(set(each)) == 1 else None
    if held := [one for one in each if isinstance(one, Value)]:
        return _common(held)
    if isinstance(now, dict | list):
        return _content(each)
    return max(each, key=len) if name == "steps" else each[-1]


def _content(each: Sequence[Any]) -> Any:
    """What a dict or list holds where ways meet: at each name or place what is in common to those that have
    one there."""
    if isinstance(each[0], dict):
        names = dict.fromkeys(name for one in each for name in one)
        return {name: _common([one[name] for one in each if name in one]) for name in names}
    return [_common([one for one in at if one is not None]) for at in zip_longest(*each)]


def _common(each: Sequence[Value]) -> Value:
    first = each[0]
    # Most are the same, and nothing is to be joined.
    return first if all(one is first for one in each) else reduce(joined, each)
