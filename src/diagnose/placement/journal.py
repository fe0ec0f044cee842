"""What a program changes of values that several names hold, so that a branch's changes can be undone.

Attributes of values, and the dicts and lists that they hold, are written down here before they change: a
way of the program begins at a `Changes.mark`, and what it did is taken back before the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from itertools import count
from typing import Any, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")

#: What stands for the attribute where a container has changed itself.
CONTENT = ""
#: What is changed, which of its attributes (or its `CONTENT`), and what that was before.
Change = tuple[Any, str, object]

#: Each mark has a number of its own: a container that was written down since needs no second copy.
_MARKS = count(1)


class Changes(list[Change]):
    """The changes of one analysis, in their order."""

    epoch = 0

    def mark(self) -> int:
        """Where a way begins: how many changes there are."""
        self.epoch = next(_MARKS)
        return len(self)

    def since(self, mark: int) -> dict[tuple[int, str], Change]:
        """What has changed since a mark, and what it is now."""
        return {
            (id(one), name): (one, name, one.copy() if name == CONTENT else getattr(one, name))
            for one, name, _ in self[mark:]
        }

    def take_back(self, mark: int) -> dict[tuple[int, str], Change]:
        """Undoes all changes since a mark; what each was until then."""
        if len(self) == mark:
            return {}
        found = self.since(mark)
        while len(self) > mark:
            one, name, before = self.pop()
            if name == CONTENT:
                one.restore(before)
            else:
                object.__setattr__(one, name, before)
        self.mark()
        return found


#: The changes of the analysis that runs; None where nobody asks.
_CHANGES: ContextVar[Changes | None] = ContextVar("_CHANGES", default=None)


def begun() -> Changes:
    """The changes of an analysis that begins: it grows by each."""
    changes = Changes()
    _CHANGES.set(changes)
    return changes


def noted(value: object, name: str) -> None:
    """Writes down that an attribute of a value is about to be set."""
    changes = _CHANGES.get()
    if changes is not None and hasattr(value, name):  # a new value has nothing to go back to
        changes.append((value, name, getattr(value, name)))


class Attributes:
    """Whose attributes of the names in ``forked`` a branch sets for itself alone; the dicts and lists among
    them are kept as `KeptDict` and `KeptList`."""

    __slots__ = ()

    forked: frozenset[str] = frozenset()

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.forked:
            noted(self, name)
            if type(value) is dict:
                value = KeptDict(value)
            elif type(value) is list:
                value = KeptList(value)
        object.__setattr__(self, name, value)


class KeptDict(dict[_K, _V]):
    """A dict whose changes are written down."""

    __slots__ = ("epoch",)

    def restore(self, content: Mapping[_K, _V]) -> None:
        """Puts back what it held."""
        dict.clear(self)
        dict.update(self, content)


class KeptList(list[_V]):
    """A list whose changes are written down."""

    __slots__ = ("epoch",)

    def restore(self, content: Sequence[_V]) -> None:
        """Puts back what it held."""
        list.__setitem__(self, slice(None), content)


def _noting(method: Callable[..., Any]) -> Callable[..., Any]:
    def change(kept: Any, *given: Any, **named: Any) -> Any:
        changes = _CHANGES.get()
        if changes is not None and getattr(kept, "epoch", None) != changes.epoch:
            changes.append((kept, CONTENT, kept.copy()))
            kept.epoch = changes.epoch
        return method(kept, *given, **named)

    return change


_OF_BOTH = ("__setitem__", "__delitem__", "pop", "clear")
for _name in (*_OF_BOTH, "update", "setdefault", "popitem", "__ior__"):
    setattr(KeptDict, _name, _noting(getattr(dict, _name)))
for _name in (*_OF_BOTH, "append", "extend", "insert", "remove", "sort", "reverse", "__iadd__"):
    setattr(KeptList, _name, _noting(getattr(list, _name)))
