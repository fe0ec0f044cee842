"""From instructions of a program to the nodes of its source, and from what a recorder noted there to the
steps by which placement analysis reasons.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from diagnose.kinds import EventKind
from diagnose.placement import Source, Spot, Step
from diagnose.placement.devices import written
from diagnose.placement.semantics import nodes, parent, path_to
from diagnose.sources import read_cached
from diagnose.tracing.lives import MOVES, Event
from diagnose.tracing.stacks import Line

#: Larger files take longer to parse than an answer may.
_LARGEST = 400_000
Position = tuple[int, int, int, int]


def statement_of(spot: Spot) -> ast.AST:
    """The statement that a node belongs to."""
    path = reversed(path_to(spot.source.tree, spot.node))
    return next((one for one in path if isinstance(one, ast.stmt)), spot.node)


class Texts:
    """The files of a program, each parsed once."""

    def __init__(self) -> None:
        self._known: dict[str, Source | None] = {}
        self._at: dict[str, dict[Position, ast.AST]] = {}

    def of(self, path: str) -> Source | None:
        """A file, None where it cannot be read or parsed."""
        if path not in self._known:
            self._known[path] = _parsed(path)
        return self._known[path]

    def spot(self, line: Line) -> Spot | None:
        """The node that an instruction belongs to."""
        source = self.of(line.code.co_filename)
        if source is None:
            return None
        node = self._exact(source, line) or _in_line(source, line.number)
        return Spot(source, node, named(line)) if node is not None else None

    def _exact(self, source: Source, line: Line) -> ast.AST | None:
        """The expression whose instruction it is, where the code tells columns (since Python 3.11): the
        outermost one of that position, or ``a += b``, which is a statement."""
        if source.path not in self._at:
            found = self._at[source.path] = dict[Position, ast.AST]()
            for node in nodes(source.tree, ast.expr, ast.AugAssign):
                if node.end_lineno is not None:
                    ends = node.end_col_offset or 0
                    found.setdefault((node.lineno, node.end_lineno, node.col_offset, ends), node)
        positions: Any = getattr(line.code, "co_positions", None)
        place = next(islice(positions(), line.at // 2, None), None) if positions else None
        return self._at[source.path].get(place) if place is not None else None


def named(line: Line) -> str | None:
    """The function of an instruction as people write it, ``Net.forward``; None at a file's top."""
    name: str = getattr(line.code, "co_qualname", line.code.co_name)
    return None if name == "<module>" else name.rpartition("<locals>.")[2]


def is_base_init(node: ast.AST) -> bool:
    """``super().__init__(...)`` and ``Base.__init__(self, ...)``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "__init__"
    )


def _in_line(source: Source, number: int) -> ast.AST | None:
    """What most likely runs in a line: the call or the operation of its innermost statement."""
    inside = [
        node
        for node in nodes(source.tree, ast.stmt)
        if node.lineno <= number <= (node.end_lineno or 0)
    ]
    if not inside:
        return None
    statement = min(inside, key=lambda node: (node.end_lineno or 0) - node.lineno)
    kinds = (ast.Call, ast.BinOp, ast.Compare, ast.Subscript)
    parts = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr)]
    if isinstance(statement, ast.For | ast.AsyncFor):  # what runs there is its iterator
        return statement.iter
    if isinstance(statement, ast.AugAssign):
        return statement
    return next((one for part in parts for one in nodes(part, *kinds)), statement)


def _parsed(path: str) -> Source | None:
    lines = read_cached(path)
    if lines is None or sum(map(len, lines)) > _LARGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Source(path, lines, ast.parse("\n".join(lines)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


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
        above = parent(spot.source.tree, spot.node)
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
            put = event.what == EventKind.PUT
            return spot._replace(node=statement_of(spot)) if put else spot
        return None

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
            if spot is not None:
                yield Step(EventKind.BOUND, spot._replace(node=statement_of(spot)))
                return
