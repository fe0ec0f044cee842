"""The call of torch that raised, and what it was given."""

from __future__ import annotations

import weakref
from operator import is_
from typing import Any, NamedTuple

from diagnose.tracing.given import words
from diagnose.tracing.lives import Life
from diagnose.tracing.stacks import Stack


class Operand(NamedTuple):
    """A tensor, or a generator (``shape`` is None), that a call was given: its position or keyword, where
    it was and how large, its life and a weak reference. What only the failed expression held is gone when
    somebody asks."""

    name: str
    tensor: weakref.ref[Any]
    device: str
    shape: tuple[int, ...] | None
    life: Life | None


class Failed(NamedTuple):
    """A call that raised: its function, what it was given, where in the program it stands, the modules
    whose methods were ``running``, innermost first, the device that it ``asked`` for; ``error`` and
    ``words`` tell the exception again, which is not kept."""

    function: str
    operands: tuple[Operand, ...]
    stack: Stack
    running: tuple[weakref.ref[Any], ...]
    error: int
    words: tuple[Any, ...]
    asked: str | None = None

    def is_of(self, error: BaseException) -> bool:
        """Whether this call raised that exception."""
        said = words(error)
        same = len(said) == len(self.words) and all(map(is_, said, self.words))
        return self.error == id(error) and same

    def was_given(self, *things: object) -> bool:
        """Whether one of these was an operand."""
        held = [operand.tensor() for operand in self.operands]
        return any(one is thing for one in held for thing in things)

    def is_within(self, error: BaseException) -> bool:
        """Whether that exception quotes the one that this call raised, as one of another thread is."""
        mine, other = self.words[:1], words(error)[:1]
        told = all(type(one) is str and one for one in (*mine, *other)) and mine and other
        return bool(told) and mine[0] in other[0]
