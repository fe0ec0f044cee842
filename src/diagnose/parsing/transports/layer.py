"""What a module declares of a layer that it peels off many lines at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from diagnose.parsing.lines import Peeled

#: ``input``: of all lines as they were pasted. ``printed``: of all lines, once each is without what a
#: collector made of it. ``process``: of the lines of one process, for others print in between.
Scope = Literal["input", "printed", "process"]


class Layer(NamedTuple):
    """A layer, where it comes off, and why there.

    Within a scope layers come off by rising ``order``; a layer that may stand in two scopes is declared in
    both. ``why`` names what has to be off before, or has to wait.
    """

    name: str
    peel: Callable[[Sequence[Peeled]], Iterable[Peeled]]
    scope: Scope
    order: int
    why: str
