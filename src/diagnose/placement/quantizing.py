"""Models that are quantized for the host: their kernels have no form for a GPU, so they and what they are
given stay there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.placement.model import Source, Spot

#: Functions that quantize a model for the host alone
#: (https://docs.pytorch.org/docs/stable/generated/torch.ao.quantization.quantize_dynamic.html).
_FOR_HOST = ("quantize_dynamic",)
_MOVES = ("to", "cuda")


def _quantizes(source: Source) -> ast.Call | None:
    """The one call of a file that quantizes a model for the host; None for none or several."""
    found = [one for one in ast.walk(source.tree) if _called(one) in _FOR_HOST]
    return found[0] if len(found) == 1 and isinstance(found[0], ast.Call) else None


def chosen_device(source: Source) -> Spot | None:
    """Where a file chooses the device that it moves a model to which it quantizes for the host.

    Returns:
        The expression that is bound to what the move is told, in the function of the call that quantizes;
        None where the model is not moved there, or its device is told by others.
    """
    call = _quantizes(source)
    around = _around(source.tree, call) if call is not None else None
    if call is None or around is None:
        return None
    for move in _moves(around):
        told = ast.unparse(move.args[0]) if move.args else ""
        for one in ast.walk(around):
            match one:
                case ast.Assign(targets=[target], value=value) if ast.unparse(target) == told:
                    return Spot(source, value, getattr(around, "name", None))
    return None


def condition(source: Source) -> str | None:
    """The test under which a file quantizes its model; None where it does so in any case."""
    call = _quantizes(source)
    around = _around(source.tree, call) if call is not None else None
    tests = [
        ast.unparse(one.test)
        for one in ast.walk(around or ast.Module([], []))
        if isinstance(one, ast.If)
        and any(each is call for part in one.body for each in ast.walk(part))
    ]
    return tests[-1] if tests else None


def _moves(around: ast.AST) -> Iterator[ast.Call]:
    """The moves of what is bound to what ``quantize_dynamic`` gives."""
    names = {
        ast.unparse(target)
        for one in ast.walk(around)
        if isinstance(one, ast.Assign) and _called(one.value) in _FOR_HOST
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
        if isinstance(one, ast.FunctionDef) and any(each is call for each in ast.walk(one))
    ]
    return functions[-1] if functions else tree


def _called(node: ast.AST) -> str:
    return ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
