"""What the layers took off an input, for whoever asks (`diagnose kb why`); an answer does not look on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from diagnose.parsing.lines import Peeled


class Taken(NamedTuple):
    """A layer that was taken off: how many lines it changed, and the first of them before and after.

    ``after`` is empty where the line went into another one, or away.
    """

    layer: str
    lines: int
    number: int
    before: str
    after: tuple[str, ...]


class Watch:
    """Looks on while an input is peeled."""

    def __init__(self) -> None:
        self._taken: dict[str, Taken] = {}

    @property
    def taken(self) -> tuple[Taken, ...]:
        """The layers in the order in which they first came off."""
        return tuple(self._taken.values())

    def line(self, layer: str, number: int, before: str, after: Sequence[str]) -> None:
        """Notes what a layer made of one line, if it is another one."""
        if (before,) != tuple(after):
            first = self._taken.get(layer, Taken(layer, 0, number, before, tuple(after)))
            self._taken[layer] = first._replace(lines=first.lines + 1)

    def all(self, layer: str, before: Sequence[Peeled], after: Sequence[Peeled]) -> None:
        """Notes what a layer made of all lines, by their numbers in the input."""
        left: dict[int, list[str]] = {}
        for line in after:
            left.setdefault(line.number, []).append(line.text)
        was: dict[int, list[str]] = {}
        for line in before:
            was.setdefault(line.number, []).append(line.text)
        for number, texts in was.items():
            if (now := left.get(number, [])) != texts:
                self.line(layer, number, "\n".join(texts), now)
