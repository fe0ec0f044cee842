"""Replacing attributes for a while, and putting back exactly what was there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

_ABSENT = object()


class Patches:
    """Attributes replaced since the start, undone in reverse order."""

    active: ClassVar[Patches | None] = None
    """The patches in force in this process: one simulation at a time."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any]] = []
        self._last: list[Callable[[], object]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set `owner.name`, whether or not it was there, and remember what was."""
        # An inherited attribute is not the owner's: undoing must uncover it, not copy it down.
        self._undo.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def set_all(self, owner: Any, values: Mapping[str, Any]) -> None:
        """Set several attributes of one owner."""
        for name, value in values.items():
            self.set(owner, name, value)

    def at_end(self, action: Callable[[], object]) -> None:
        """Do something else when all is undone."""
        self._last.append(action)

    def undo(self) -> None:
        """Put everything back, latest first."""
        while self._undo:
            owner, name, value = self._undo.pop()
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        while self._last:
            self._last.pop()()
