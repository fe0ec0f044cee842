"""What is replicated is moved to the first of its devices, and stays there while its weights are saved."""

from __future__ import annotations

import ast

from diagnose.fixes.codemods.expressions import replaced, with_method
from diagnose.fixes.codemods.positions import class_around, statement_of, text_of
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.placement.model import Source
from diagnose.placement.semantics import argument, assigned, called, calls, dotted, scope_of


def saved_from_host(source: Source, move: ast.expr) -> Change | None:
    """``net.cpu().state_dict()``, which leaves the net on the host, as copies of its weights."""
    if not isinstance(move, ast.Call) or called(move) != "cpu":
        return None
    assert isinstance(move.func, ast.Attribute)
    for call in calls(statement_of(source, move), "state_dict"):
        if getattr(call.func, "value", None) is move:
            if call.args or call.keywords:
                return None
            net = text_of(source, move.func.value)
            rows = f"{{key: value.cpu() for key, value in {net}.state_dict().items()}}"
            return replaced(source, call, rows)
    return None


def moved_home(source: Source, move: ast.Call, owner: str | None) -> Change:
    """A move goes to the first of the devices of what the module is wrapped in, or was."""
    scope = scope_of(source.tree, move)
    if (wrapper := _wrapper_beside(scope, move)) is not None:
        return with_method(source, move, f"to({first_device(source, wrapper)})")
    statement = statement_of(source, move)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = {owner, *map(dotted, targets)} - {None}
    for one in calls(scope, "DataParallel"):
        if one.args and one.lineno > move.lineno and dotted(one.args[0]) in names:
            return with_method(source, move, f"to({first_device(source, one)})")
    for made in assigned(scope, owner) if owner is not None else ():
        for call in calls(made.value, "DataParallel"):
            return with_method(source, move, f"to({_home_of(source, call, owner)})")
    raise Refused("the file does not show what is moved")


def _wrapper_beside(scope: ast.AST, move: ast.Call) -> ast.Call | None:
    """The wrapper that is given a move's result, or that the move itself moves, in one expression."""
    moved = getattr(move.func, "value", None)
    for one in calls(scope, "DataParallel"):
        given = wrapped_by(one)
        while given is not move and isinstance(given, ast.Call):  # ``net.cuda().train()``
            given = getattr(given.func, "value", None)
        if one is moved or given is move:
            return one
    return None


def wrapped_by(call: ast.Call) -> ast.expr | None:
    """What nn.DataParallel is given to wrap."""
    return argument(call, "module", 0)


def chosen_home(source: Source, device: ast.Constant) -> Change:
    """The first GPU that a function or a class chose for a module becomes the first one of its wrapper."""
    inner = scope_of(source.tree, device)
    for scope in (inner, class_around(source, device) or inner):  # another method may wrap it
        wraps = calls(scope, "DataParallel")
        if len(wraps) == 1:
            return replaced(source, device, first_device(source, wraps[0]))
    raise Refused("the function does not show what is wrapped")


def _device_ids(call: ast.Call) -> ast.expr | None:
    """What nn.DataParallel is told of its devices."""
    return argument(call, "device_ids", 1)


def _home_of(source: Source, call: ast.Call, wrapper: str | None) -> str:
    """The first device of a wrapper that stands under a name, which knows it where the call does not
    show it."""
    given = _device_ids(call)
    if wrapper is None or given is None or isinstance(given, ast.Constant | ast.List):
        return first_device(source, call)
    return f'f"cuda:{{{wrapper}.device_ids[0]}}"'


def first_device(source: Source, call: ast.Call) -> str:
    """The first of the devices that nn.DataParallel is given; of all, the first one."""
    given = _device_ids(call)
    match given:
        case None | ast.Constant(value=None):
            return '"cuda:0"'
        case ast.List(elts=[ast.Constant(value=int(number)), *_]):
            return f'"cuda:{number}"'
        case ast.Call(args=[ast.Name() | ast.Attribute() as held]) if called(given) in (
            "list",
            "tuple",
        ):
            return f'f"cuda:{{{text_of(source, held)}[0]}}"'
        case ast.Call(args=[ast.Call() as counted]) if called(given) == "list":
            return _first_of(counted)
        case ast.Call() if called(given) == "range":
            return _first_of(given)
        case ast.List(elts=[first, *_]) if '"' not in text_of(source, first):
            return f'f"cuda:{{{text_of(source, first)}}}"'
        case ast.Name() | ast.Attribute():
            return f'f"cuda:{{{text_of(source, given)}[0]}}"'
    raise Refused("the file does not show which device is the first")


def _first_of(numbers: ast.Call) -> str:
    """The first of the devices that ``range`` counts."""
    match numbers:
        case ast.Call(func=ast.Name(id="range"), args=[_]):
            return '"cuda:0"'
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(number)), *_]):
            return f'"cuda:{number}"'
    raise Refused("the file does not show which device is the first")
