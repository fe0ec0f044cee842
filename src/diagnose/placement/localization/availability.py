"""The calls on the way to a value, and in which of them a device is known: there one line mends it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import chain

from diagnose.placement.devices import is_gpu, named_so, written
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import last_move, on_cpu
from diagnose.placement.semantics import (
    Function,
    around,
    called,
    dotted,
    lines_of,
    parameters,
    path_to,
    reads,
)
from diagnose.placement.tensors import Batch, Module, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Around, Const, Frame, Object, Place, Unknown, Value


def where_built(
    made: Step, frame: Frame | None, *, models: bool = False, tensors: bool = False
) -> tuple[Spot, Frame | None]:
    """Where something is built: the innermost call on the way to it beside which a device is known.

    With ``models`` a model beside it tells one, too, with ``tensors`` a tensor.
    """
    spot, around = made.spot, frame
    if is_run_at_once(spot):
        return spot, frame
    while around is not None:
        if has_device(around, spot) or (models and _has_model(around, spot)):
            return spot, around
        if has_placed(around, 0):
            return spot, around
        if tensors and around is not frame and has_tensor(around, spot):
            return spot, around
        if around.call is None or not gives_what_it_builds(around):
            if _is_told_around(around):
                return spot, around
            break
        if isinstance(around.call.node, ast.ClassDef | ast.FunctionDef):
            break
        spot, around = around.call, around.caller
    return made.spot, frame


def is_run_at_once(spot: Spot) -> bool:
    """Whether a layer is handed to what calls it at once: what comes after is too late."""
    outer = around(spot.source.tree, spot.node, ast.Call)
    return any(called(one) == "register_parametrization" for one in (spot.node, *outer))


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


def knows_device(frame: Frame, spot: Spot) -> bool:
    """Whether a device is known in a call, or in one that leads to it."""
    return any(has_device(around, place) for place, around in sites(spot, frame))


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


def has_device(frame: Frame, spot: Spot, *, moved: bool = True) -> bool:
    """Whether a device is among the variables of a call, or of its object."""
    held: dict[str, Value] = {}
    if isinstance(frame.this, Module):
        held = frame.this.plain
    elif isinstance(frame.this, Object):
        held = frame.this.attributes
        if frame.this.made is not None and any(
            n.endswith("Trainer") for n in frame.this.made.names()
        ):
            return True  # transformers' has its arguments' device
    made = frame.this.made if isinstance(frame.this, Module | Object) else None
    if made is not None and made.find("device") is not None:
        return True  # a property, most often
    names = (
        name
        for name, value in frame.names.items()
        if frame.lines.get(name, 0) <= spot.line and not _is_settings(frame, name, value)
    )
    values = chain(((name, frame.names[name]) for name in names), held.items())
    if any(_tells_device(name, value) for name, value in values):
        return True
    if frame.function is not None and frame.this is None and _of_file(frame):
        return True
    return moved and any(_moved_in(frame, value, spot.line) for value in frame.names.values())


def has_parameter(frame: Frame) -> bool:
    """Whether a call was told an accelerator by a parameter of its own."""
    taken = (value for name, value in frame.names.items() if frame.lines.get(name) == 0)
    return any(
        is_gpu(one.device) if isinstance(one, Place) else getattr(one, "value", "") == "cuda"
        for one in taken
    )


def _of_file(frame: Frame) -> bool:
    """Whether a variable of the file around a function is a device; a class is written for any file, and
    what is bound only where the file is the program is not meant for its functions."""
    outer = getattr(frame.around, "frame", None)
    while outer is not None and outer.function is not None:
        outer = getattr(outer.around, "frame", None)
    if outer is None or outer.source is not frame.source:
        return False
    own = main_lines(outer.source.tree)
    return any(
        isinstance(value, Place | Const)
        and _tells_device(name, value)
        and outer.lines.get(name) not in own
        for name, value in outer.names.items()
    )


def _is_told_around(frame: Frame) -> bool:
    """Whether a function that another one is written in has a variable that is a device."""
    around = frame.around
    while isinstance(around, Around):
        outer = around.frame
        inside = outer.function is not None and not outer.is_class_body()
        if inside and any(isinstance(one, Place) for one in outer.names.values()):
            return True
        around = outer.around
    return False


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


def is_rebound(spot: Spot) -> bool:
    """Whether a statement gives what a call moves its own name again: ``model = model.cuda()``."""
    match spot.node, statement_around(spot):
        case ast.Call(func=ast.Attribute(value=owner)) as call, ast.Assign(targets=[target]) as by:
            return by.value is call and dotted(target) == dotted(owner) is not None
    return False


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


def held_by(node: ast.AST, frame: Frame) -> Value | None:
    """What an expression takes a field of: an object or a module; None where that is not known."""
    match node:
        case ast.Attribute(value=ast.Name(id=name)):
            return frame.get(name)
        case ast.Attribute(value=ast.Attribute(attr=name) as whose):
            outer = held_by(whose, frame)
            if isinstance(outer, Object):
                return outer.attributes.get(name)
            if isinstance(outer, Module):
                return outer.children.get(name) or outer.plain.get(name)
    return None


def key_of(value: Value, names: Mapping[str, Value]) -> str | None:
    """The name that holds a value."""
    return next((name for name, one in names.items() if one is value), None)


def held_in(frame: Frame) -> dict[str, Value]:
    """What a call has: its variables, and what its object keeps, by ``self.name``."""
    kept = frame.this.attributes if isinstance(frame.this, Object) else {}
    return {**frame.names, **{f"self.{name}": value for name, value in kept.items()}}
