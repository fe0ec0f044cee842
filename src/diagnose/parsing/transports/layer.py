"""What a module declares of a layer: one that it peels off many lines at once, or off a line alone."""

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


class Carried(NamedTuple):
    """What a line carries: its texts, and the process that the layer names."""

    texts: Sequence[str]
    channel: str | None = None


class LineLayer(NamedTuple):
    """A layer that comes off one line, where it comes off, and why there.

    On each line layers are tried by rising ``order``. ``peel`` gives what the line carries, None where the
    layer is not there. What one that ``opens`` gives are lines of their own, each peeled anew; any other
    leaves one text. ``where`` tells whether an input may have the layer at all, which then comes off no
    line twice. ``marks`` are what a large log is searched for, where the layer hides those of a traceback.
    """

    name: str
    peel: Callable[[str], Carried | None]
    order: int
    why: str
    opens: bool = False
    where: Callable[[Sequence[Peeled]], bool] | None = None
    marks: Sequence[str] = ()
