"""From what a recorder noted to the steps by which placement analysis reasons."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.hooks.positions import Texts, is_base_init
from diagnose.kinds import EventKind
from diagnose.placement import Spot, Step
from diagnose.placement.devices import written
from diagnose.placement.semantics import nodes, parent
from diagnose.tracing.lives import MOVES, Event

#: Where a library is told to put what it restores.
_PLACES = frozenset({"map_location", "device", "device_map"})


def _restores(node: ast.AST) -> bool:
    """Whether a library restores a module by a call that names no device: it is where it was saved."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name), keywords=named) if "checkpoint" in name:
            return not _PLACES & {one.arg for one in named}
    return False


class Steps:
    """Events as steps: their lines as expressions of the program's files."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def of(self, events: Sequence[Event]) -> tuple[Step, ...]:
        """Events as steps, those whose lines can be read."""
        return tuple(step for event in events if (step := self._step(event)) is not None)

    def _step(self, event: Event) -> Step | None:
        spot = self._spot(event)
        if spot is None:
            return None
        device = written(event.device) if event.device is not None else None
        if event.what == EventKind.MOVED and _restores(spot.node):
            return Step(EventKind.LOADED, spot)
        if event.what != EventKind.COPIED:
            return Step(event.what, spot, device, self._of(spot))
        text = self._texts.of(spot.file)
        above = parent(text.source.tree, spot.node) if text is not None else None
        # A move whose result is all of a statement is lost; what a library copies for a call is not.
        match spot.node:
            case ast.Call(func=ast.Attribute(attr=name)) if name in MOVES:
                return (
                    Step(EventKind.DROPPED, spot, device) if isinstance(above, ast.Expr) else None
                )
        return None

    def _spot(self, event: Event) -> Spot | None:
        """The user's expression that did it; of what is built, the call from outside of its class."""
        for line in event.stack:
            spot = self._texts.spot(line)
            if spot is None:
                return None
            if event.what == EventKind.MADE and is_base_init(spot.node):
                continue
            return self._stated(spot) if event.what == EventKind.PUT else spot
        return None

    def _stated(self, spot: Spot) -> Spot:
        text = self._texts.of(spot.file)
        return spot._replace(node=text.statement(spot.node)) if text is not None else spot

    def _of(self, spot: Spot | None) -> Spot | None:
        """The literal that the device of a move was written as, where a variable carries it."""
        node = spot.node if spot is not None else None
        if spot is None or not isinstance(node, ast.Call):
            return None
        given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "device")]
        names = {one.id for one in given if isinstance(one, ast.Name)}
        for statement in nodes(spot.source.tree, ast.Assign):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names:
                    literals = [
                        part
                        for part in nodes(value, ast.Constant)
                        if isinstance(part.value, str)
                        and (found := written(part.value)) is not None
                        and found.number is not None
                    ]
                    if len(literals) == 1:
                        return Spot(spot.source, value, spot.function)
        return None

    def bound(self, events: Sequence[Event]) -> Iterator[Step]:
        """The loop over a loader that bound a batch."""
        for event in events[::-1]:
            spot = self._texts.spot(event.stack[0]) if event.stack else None
            text = self._texts.of(spot.file) if spot is not None else None
            if spot is not None and text is not None:
                statement = text.statement(spot.node)
                yield Step(EventKind.BOUND, spot._replace(node=statement))
                return
