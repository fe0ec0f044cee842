"""What a program changes of values that several names hold, so that a branch's changes can be undone.

Names are copied for each branch (`language.branches`); a module and a batch are not: what one branch
does to them is written down here, and taken back before the next one runs.
"""

from __future__ import annotations

from contextvars import ContextVar

from diagnose.placement.values import Value

#: A value, which of its attributes was set, and what that was before.
Change = tuple[Value, str, object]

#: The changes of the analysis that runs, in their order; None where nobody asks.
_CHANGES: ContextVar[list[Change] | None] = ContextVar("_CHANGES", default=None)


def begun() -> list[Change]:
    """The changes of an analysis that begins: it grows by each."""
    changes: list[Change] = []
    _CHANGES.set(changes)
    return changes


def noted(value: Value, name: str) -> None:
    """Writes down that an attribute of a value is about to be set."""
    changes = _CHANGES.get()
    if changes is not None and hasattr(value, name):  # a new value has nothing to go back to
        changes.append((value, name, getattr(value, name)))


def taken_back(changes: list[Change], mark: int) -> dict[tuple[int, str], Change]:
    """Undoes all changes since there were ``mark``; what each attribute was until then."""
    if len(changes) == mark:
        return {}
    found = since(changes, mark)
    while len(changes) > mark:
        value, name, before = changes.pop()
        object.__setattr__(value, name, before)
    return found


def since(changes: list[Change], mark: int) -> dict[tuple[int, str], Change]:
    """The attributes that were set since there were ``mark`` changes, and what they are now."""
    set_ = ((value, name) for value, name, _ in changes[mark:])
    return {(id(value), name): (value, name, getattr(value, name)) for value, name in set_}
