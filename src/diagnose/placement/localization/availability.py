"""The calls on the way to a value, and in which of them a device is known: there one line mends it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from diagnose.placement.devices import is_gpu, named_so, written
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import last_move, on_cpu
from diagnose.placement.semantics import (
    Function,
    called,
    lines_of,
    parameters,
    path_to,
    reads,
)
from diagnose.placement.tensors import Batch, Module, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Object, Place, Unknown, Value


def where_built(
    made: Step, frame: Frame | None, *, models: bool = False
) -> tuple[Spot, Frame | None]:
    """Where something is built: the innermost call on the way to it beside which a device is known.

    With ``models`` a model beside it tells one, too.
    """
    spot, around = made.spot, frame
    while around is not None:
        if has_device(around, spot) or (models and _has_model(around, spot)):
            return spot, around
        if has_placed(around, 0):
            return spot, around
        if around.call is None or not gives_what_it_builds(around):
            break
        if isinstance(around.call.node, ast.ClassDef | ast.FunctionDef):
            break
        spot, around = around.call, around.caller
    return made.spot, frame


def gives_what_it_builds(frame: Frame) -> bool:
    """Whether the result of a call can be moved in place of what is built within it."""
    if runs_module(frame):
        return False
    if (frame.function or "").endswith(".__init__"):
        return isinstance(frame.this, Module)
    return any(
        isinstance(value, Module | Tensor | Batch | Items | Table) and value is not frame.this
        for value in frame.result
    )


def runs_module(frame: Frame) -> bool:
    """Whether a call is the run of a module."""
    run = (frame.function or "").endswith((".forward", ".__call__"))
    return run and isinstance(frame.this, Module)


def is_called(frame: Frame) -> bool:
    """Whether the program comes to a call by itself, and not what runs functions that nothing calls."""
    for one in frames(frame):
        match one.call.node if one.call is not None else None:
            case ast.FunctionDef() | ast.AsyncFunctionDef() as entered:
                return not _is_given(entered)
            case ast.ClassDef():
                return False
    return True


def _is_given(function: Function) -> bool:
    """Whether a caller hands something to a function: what needs nothing runs as it stands."""
    return bool(parameters(function) or function.args.vararg or function.args.kwarg)


def has_device(frame: Frame, spot: Spot) -> bool:
    """Whether a device is among the variables of a call, or of its object."""
    this, held = frame.this, dict[str, Value]()
    if isinstance(this, Module | Object):
        held = this.plain if isinstance(this, Module) else this.attributes
        made = this.made
        names = made.names() if made is not None and isinstance(this, Object) else ()
        if any(name.endswith("Trainer") for name in names):
            return True  # transformers' has its arguments' device
        if made is not None and made.find("device") is not None:
            return True  # a property, most often
    known = {
        name: value
        for name, value in frame.names.items()
        if frame.lines.get(name, 0) <= spot.line and not _is_settings(frame, name, value)
    }
    if any(_tells_device(*one) for one in (*known.items(), *held.items())):
        return True
    return any(_moved_in(frame, value, spot.line) for value in frame.names.values())


def has_parameter(frame: Frame) -> bool:
    """Whether a call was told an accelerator by a parameter of its own."""
    taken = (value for name, value in frame.names.items() if frame.lines.get(name) == 0)
    return any(
        is_gpu(one.device) if isinstance(one, Place) else getattr(one, "value", "") == "cuda"
        for one in taken
    )


@lru_cache(maxsize=8)
def main_lines(tree: ast.Module) -> frozenset[int]:
    """The lines of what a file does as a program alone, ``if __name__ == "__main__"``."""
    return frozenset(
        line
        for node in tree.body
        if isinstance(node, ast.If) and reads(node.test, "__name__")
        for line in lines_of(node)
    )


def _is_settings(frame: Frame, name: str, value: Value) -> bool:
    """Whether a parameter is an object that a function builds by, and not for its device."""
    return isinstance(value, Object) and value.made is not None and frame.lines.get(name) == 0


def _has_model(frame: Frame, spot: Spot) -> bool:
    """Whether a variable of a call holds a model that is on an accelerator, or the object of its method."""
    held = frame.this.attributes.values() if isinstance(frame.this, Object) else ()
    known = (*_above(frame, spot.line), *held)
    return any(is_gpu(one.where()) for one in known if isinstance(one, Module))


def has_tensor(frame: Frame, spot: Spot) -> bool:
    """Whether a variable of a call may hold a tensor whose device something made beside it can have."""
    return isinstance(frame.this, Module) or any(
        (isinstance(one, Tensor) and not on_cpu(one)) or isinstance(one, Unknown | Batch)
        for one in _above(frame, spot.line)
    )


def has_placed(frame: Frame, line: int) -> bool:
    """Whether a variable that a call has by a line (a parameter, by 0) holds a tensor on an accelerator:
    what is built there belongs beside it."""
    return any(isinstance(one, Tensor) and is_gpu(one.device) for one in _above(frame, line))


def _above(frame: Frame, line: int) -> Iterator[Value]:
    """The values of the variables that a call has by a line."""
    return (value for name, value in frame.names.items() if frame.lines.get(name, 0) <= line)


def _moved_in(frame: Frame, value: Value, line: int) -> bool:
    """Whether a module was moved in a call to an accelerator before a line, as others can be."""
    move = last_move(value.steps) if isinstance(value, Module) else None
    if move is None or not is_gpu(move.device):
        return False
    here = (move.spot.file, move.spot.function) == (frame.source.path, frame.function)
    return here and move.spot.line < line


def _tells_device(name: str, value: Value) -> bool:
    if isinstance(value, Object):
        fields = {} if value.made is None else value.made.members
        held = {**fields, **value.attributes}.items()
        known = value.kind == "namespace" or value.made is not None
        told = known and any(_tells_device(*one) for one in held if not isinstance(one[1], Object))
        return told or value.kind == "accelerator"
    if isinstance(value, Const):
        return isinstance(value.value, str) and written(value.value) is not None
    return isinstance(value, Place) or (isinstance(value, Unknown) and named_so(name))


def is_statement(spot: Spot) -> bool:
    """Whether a call is all of a statement, such as ``model.to(device)``, or prepares what it is given."""
    by = statement_around(spot)
    return is_prepared(spot) or (isinstance(by, ast.Expr) and by.value is spot.node)


def is_prepared(spot: Spot) -> bool:
    """Whether a call prepares what it is given, as accelerate does."""
    return (
        isinstance(spot.node, ast.Call)
        and isinstance(spot.node.func, ast.Attribute)
        and called(spot.node) == "prepare"
    )


def statement_around(spot: Spot) -> ast.stmt | None:
    """The innermost statement that a node stands in."""
    around = reversed(path_to(spot.source.tree, spot.node))
    return next((one for one in around if isinstance(one, ast.stmt)), None)


def frames(frame: Frame | None) -> Iterator[Frame]:
    """The variables of a call, and of those that lead to it, innermost first."""
    while frame is not None:
        yield frame
        frame = frame.caller


def sites(spot: Spot, frame: Frame) -> Iterator[tuple[Spot, Frame]]:
    """A place and the variables there, then the calls that lead to it and theirs, innermost first."""
    yield spot, frame
    while frame.call is not None and frame.caller is not None:
        spot, frame = frame.call, frame.caller
        yield spot, frame


def frame_at(spot: Spot, frame: Frame | None) -> Frame | None:
    """The variables of the call that a place is in, of those that lead to some; None where it is in none of
    them."""
    here = (spot.file, spot.function)
    return next((one for one in frames(frame) if (one.source.path, one.function) == here), None)


def handed_on(
    node: ast.AST,
    spot: Spot,
    frame: Frame,
    through: Callable[[Frame, str], bool] = lambda frame, name: frame.lines.get(name) == 0,
) -> tuple[ast.AST, Spot, Frame]:
    """The expression that a parameter was given by the outermost of the calls that hand it on, that call,
    and the variables there; of what is no parameter, itself.

    Args:
        node: the expression.
        spot: where it stands.
        frame: the variables there.
        through: which calls hand on what they were given by a name: those that bind it no more.
    """
    while isinstance(node, ast.Name) and node.id in frame.given and through(frame, node.id):
        if frame.call is None or frame.caller is None:
            break
        node, spot, frame = frame.given[node.id], frame.call, frame.caller
    return node, spot, frame


def key_of(value: Value, names: Mapping[str, Value]) -> str | None:
    """The name that holds a value."""
    return next((name for name, one in names.items() if one is value), None)


def held_in(frame: Frame) -> dict[str, Value]:
    """What a call has: its variables, and what its object keeps, by ``self.name``."""
    kept = frame.this.attributes if isinstance(frame.this, Object) else {}
    return {**frame.names, **{f"self.{name}": value for name, value in kept.items()}}
