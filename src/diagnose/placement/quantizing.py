"""Models that are quantized for the host: their kernels have no form for a GPU, so they and what they are
given stay there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.placement.for_host import (
    MOVES,
    Giving,
    arguments,
    around_call,
    given_to,
    gives,
    moves,
    tests,
)
from diagnose.placement.model import Source, Spot, Suspect
from diagnose.placement.steps import called
from diagnose.placement.switches import set_at
from diagnose.placement.walking import walk


class Left(NamedTuple):
    """The statement that quantizes a model for the host, and the variable of the device that is told to
    those who use it then."""

    spot: Spot
    device: str


def suspect(cause: str, sources: Sequence[Source], *, prepared: bool) -> Suspect | None:
    """The one place of the user's files that tells where a quantized model comes to be; None for none or
    several.

    Args:
        cause: id of the root cause.
        sources: the user's files.
        prepared: the failing lines have a library prepare the model, as one that is trained.
    """
    for look in (chosen_device, *((loaded_on,) if prepared else ())):
        chosen = [spot for source in sources if (spot := look(source)) is not None]
        if len(chosen) == 1:
            return Suspect(cause, "", chosen[0], sure=False)
    left = [one for source in sources if (one := left_on_gpu(source)) is not None]
    if len(left) == 1:
        return Suspect(cause, left[0].device, left[0].spot, sure=False)
    told = [spot for source in sources if (spot := told_in_call(source)) is not None]
    return Suspect(cause, "", told[0], sure=False) if len(told) == 1 else None


def chosen_device(source: Source) -> Spot | None:
    """Where a file chooses the device that it moves a model to which it quantizes for the host.

    Returns:
        The expression that is bound to what the move is told, in the function of the call that quantizes,
        or that calls the one which does; None where the model is not moved there, its device is told by
        others, or it is only known later whether the model is quantized.
    """
    found = _chosen(source)
    return found[0] if found is not None else None


def _chosen(source: Source) -> tuple[Spot, Giving] | None:
    for giving in gives(source):
        around = around_call(source.tree, giving.call)
        for move in moves(around, giving.call):
            told = ast.unparse(move.args[0]) if move.args else ""
            for one in walk(around):
                match one:
                    case ast.Assign(targets=[target], value=value) if ast.unparse(target) == told:
                        if _is_known_later(around, giving, one.lineno):
                            return None
                        return Spot(source, value, getattr(around, "name", None)), giving
    return None


def left_on_gpu(source: Source) -> Left | None:
    """Where a function quantizes its model for the host and goes on with the device that it had chosen for
    what it did before: it moves the model there, or hands both to what does; None where nothing was done
    on the device before, or what was made there is used behind the statement."""
    for giving in gives(source):
        around = around_call(source.tree, giving.call)
        for one in walk(around) if giving.test is None else ():
            if isinstance(one, ast.Assign) and one.value is giving.call and len(one.targets) == 1:
                told = next(_told(source.tree, around, one.targets[0], one), None)
                if told is not None and _may_change(around, one, told.id):
                    return Left(Spot(source, one, getattr(around, "name", None)), told.id)
    return None


def told_in_call(source: Source) -> Spot | None:
    """Where a call hands a model that was quantized for the host, and the device to which a function of the
    file moves it: the one argument that tells that device; None for none or several, or where a line moves
    the model as well."""
    for giving in gives(source):
        around = around_call(source.tree, giving.call)
        told = list(_handed_with(source.tree, around, giving)) if giving.test is None else []
        handed = {
            id(given)
            for call in walk(around)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            for given in given_to(call)
        }
        if len(told) == 1 and id(told[0]) in handed:
            return Spot(source, told[0], getattr(around, "name", None))
    return None


def _handed_with(tree: ast.Module, around: ast.AST, giving: Giving) -> Iterator[ast.Name]:
    """The variables that tell a device to what moves a quantized model, which has a name or is handed over
    as it is made."""
    for one in walk(around):
        if isinstance(one, ast.Assign) and one.value is giving.call and len(one.targets) == 1:
            yield from _told(tree, around, one.targets[0], one)
        elif isinstance(one, ast.Call) and giving.call in given_to(one):
            yield from _told(tree, around, giving.call, None)


def _told(
    tree: ast.Module, around: ast.AST, model: ast.expr, behind: ast.stmt | None
) -> Iterator[ast.Name]:
    """The variables by which a device is told to what moves a quantized model, behind a statement."""
    name, line = ast.unparse(model), behind.lineno if behind is not None else 0
    for one in walk(around):
        match one:
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[ast.Name() as told]):
                if method in MOVES and ast.unparse(owner) == name:
                    yield told
            case ast.Call(func=ast.Name(id=mover)) as call:
                if name in map(ast.unparse, given_to(call)) and call.lineno > line:
                    yield from _moving(tree, mover, call)


def _moving(tree: ast.Module, name: str, call: ast.Call) -> Iterator[ast.Name]:
    """Those of the arguments of a call to which a function or class of the file moves something."""
    for one in walk(tree):
        if isinstance(one, ast.ClassDef) and one.name == name:
            made = (each for each in one.body if isinstance(each, ast.FunctionDef))
            function, first = next((each for each in made if each.name == "__init__"), None), 1
        elif isinstance(one, ast.FunctionDef) and one.name == name:
            function, first = one, 0
        else:
            continue
        if function is None:
            return
        to = _moved_to(function)
        for taken, argument in arguments(function.args.args[first:], call):
            if taken in to and isinstance(argument, ast.Name):
                yield argument


def _moved_to(function: ast.FunctionDef) -> set[str]:
    """What a function moves something to, and by what else it calls that."""
    to = {
        ast.unparse(move.args[0])
        for move in walk(function)
        if isinstance(move, ast.Call) and called(move) in MOVES and move.args
    }
    return to | {
        ast.unparse(one.value)
        for one in walk(function)
        if isinstance(one, ast.Assign) and to & set(map(ast.unparse, one.targets))
    }


def _may_change(around: ast.AST, quantizes: ast.Assign, device: str) -> bool:
    """Whether a variable that tells a device was used before a statement, and may be another one behind it:
    nothing else that was made there is used any more."""
    names = [one for one in walk(around) if isinstance(one, ast.Name)]
    bound = [one for one in names if one.id == device and isinstance(one.ctx, ast.Store)]
    used = [one for one in names if one.id == device and isinstance(one.ctx, ast.Load)]
    if len(bound) != 1 or not any(one.lineno < quantizes.lineno for one in used):
        return False
    model = ast.unparse(quantizes.targets[0])
    there = {
        name.id
        for one in walk(around)
        if isinstance(one, ast.Assign) and bound[0].lineno < one.lineno < quantizes.lineno
        if any(isinstance(n, ast.Name) and n.id == device for n in walk(one.value))
        for target in one.targets
        for name in walk(target)
        if isinstance(name, ast.Name)
    }
    later = {one.id for one in names if one.lineno > (quantizes.end_lineno or 0)}
    return not (there - {model}) & later


def loaded_on(source: Source) -> Spot | None:
    """Where a file chooses the GPU that it loads the whole of a quantized model to: the literal or option
    behind the only map of devices that has one entry for all; None where a call is given that map."""
    given = {
        id(one.value)
        for one in walk(source.tree)
        if isinstance(one, ast.keyword) and one.arg == "device_map"
    }
    chosen = [
        value
        for one in walk(source.tree)
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
    """The test under which a file quantizes the model whose device it chooses (`chosen_device`); None where
    it does so in any case."""
    found = _chosen(source)
    asked = tests(around_call(source.tree, found[1].call), found[1]) if found is not None else []
    whole = asked[0] if len(asked) == 1 else ast.BoolOp(ast.And(), asked)
    text = ast.unparse(whole) if asked else None
    if text is not None and '"' not in text:
        text = text.replace("'", '"')  # as most people write it
    return f"({text})" if isinstance(whole, ast.IfExp | ast.Lambda | ast.NamedExpr) else text


def _is_known_later(around: ast.AST, giving: Giving, line: int) -> bool:
    """Whether a condition of a call reads what is bound at a line or behind it: it can't be asked there."""
    read = {ast.unparse(one) for test in tests(around, giving) for one in walk(test)}
    return any(
        isinstance(one, ast.Name | ast.Attribute)
        and isinstance(one.ctx, ast.Store)
        and one.lineno >= line
        and ast.unparse(one) in read
        for one in walk(around)
    )
