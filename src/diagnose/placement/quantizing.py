"""Models that are quantized for the host: their kernels have no form for a GPU, so they and what they are
given stay there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.placement.model import Source, Spot
from diagnose.placement.steps import called
from diagnose.placement.switches import set_at

#: Functions that quantize a model for the host alone
#: (https://docs.pytorch.org/docs/stable/generated/torch.ao.quantization.quantize_dynamic.html).
_FOR_HOST = ("quantize_dynamic",)
_MOVES = ("to", "cuda")


def _quantizes(source: Source) -> ast.Call | None:
    """The one call of a file that quantizes a model for the host; None for none or several."""
    found = [one for one in ast.walk(source.tree) if called(one) in _FOR_HOST]
    return found[0] if len(found) == 1 and isinstance(found[0], ast.Call) else None


def chosen_device(source: Source) -> Spot | None:
    """Where a file chooses the device that it moves a model to which it quantizes for the host.

    Returns:
        The expression that is bound to what the move is told, in the function of the call that quantizes;
        None where the model is not moved there, its device is told by others, or it is only known later
        whether the model is quantized.
    """
    call = _quantizes(source)
    if call is None:
        return None
    around = _around(source.tree, call)
    for move in _moves(around):
        told = ast.unparse(move.args[0]) if move.args else ""
        for one in ast.walk(around):
            match one:
                case ast.Assign(targets=[target], value=value) if ast.unparse(target) == told:
                    if _is_known_later(around, call, one.lineno):
                        return None
                    return Spot(source, value, getattr(around, "name", None))
    return None


def loaded_on(source: Source) -> Spot | None:
    """Where a file chooses the GPU that it loads the whole of a quantized model to: the literal or option
    behind the only map of devices that has one entry for all; None where a call is given that map."""
    given = {
        id(one.value)
        for one in ast.walk(source.tree)
        if isinstance(one, ast.keyword) and one.arg == "device_map"
    }
    chosen = [
        value
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Dict) and id(one) not in given
        for key, value in zip(one.keys, one.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == ""
    ]
    if len(chosen) != 1:
        return None
    spot = Spot(source, chosen[0])
    written = isinstance(spot.node, ast.Constant) and isinstance(spot.node.value, int)
    return spot if written else set_at(spot)


def condition(source: Source) -> str | None:
    """The test under which a file quantizes its model; None where it does so in any case."""
    call = _quantizes(source)
    tests = _tests(_around(source.tree, call), call) if call is not None else []
    whole = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    text = ast.unparse(whole) if tests else None
    return f"({text})" if isinstance(whole, ast.IfExp | ast.Lambda | ast.NamedExpr) else text


def _tests(around: ast.AST, call: ast.Call) -> list[ast.expr]:
    """What holds where a call is reached, the outermost condition first."""
    found: list[ast.expr] = []
    for one in ast.walk(around):
        if isinstance(one, ast.If):
            if any(each is call for part in one.body for each in ast.walk(part)):
                found.append(one.test)
            elif any(each is call for part in one.orelse for each in ast.walk(part)):
                found.append(ast.UnaryOp(ast.Not(), one.test))
    return found


def _is_known_later(around: ast.AST, call: ast.Call, line: int) -> bool:
    """Whether a condition of a call reads what is bound at a line or behind it: it can't be asked there."""
    read = {ast.unparse(one) for test in _tests(around, call) for one in ast.walk(test)}
    return any(
        isinstance(one, ast.Name | ast.Attribute)
        and isinstance(one.ctx, ast.Store)
        and one.lineno >= line
        and ast.unparse(one) in read
        for one in ast.walk(around)
    )


def _moves(around: ast.AST) -> Iterator[ast.Call]:
    """The moves of what is bound to what ``quantize_dynamic`` gives."""
    names = {
        ast.unparse(target)
        for one in ast.walk(around)
        if isinstance(one, ast.Assign) and called(one.value) in _FOR_HOST
        for target in one.targets
    }
    for one in ast.walk(around):
        match one:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _MOVES:
                if ast.unparse(owner) in names:
                    yield one


def _around(tree: ast.Module, call: ast.Call) -> ast.AST:
    """The innermost function that a call stands in, else the module."""
    functions = [
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(each is call for each in ast.walk(one))
    ]
    return functions[-1] if functions else tree
