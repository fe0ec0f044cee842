"""The call of a file that quantizes a model for the host: its kernels have no form for a GPU."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.placement.model import Source
from diagnose.placement.steps import called
from diagnose.placement.walking import walk

#: Functions that quantize a model for the host alone
#: (https://docs.pytorch.org/docs/stable/generated/torch.ao.quantization.quantize_dynamic.html).
_FOR_HOST = ("quantize_dynamic",)
MOVES = ("to", "cuda")


class Giving(NamedTuple):
    """The call that gives a model that was quantized for the host, and what holds beside its conditions."""

    call: ast.Call
    test: ast.expr | None = None


def gives(source: Source) -> Iterator[Giving]:
    """The one call of a file that quantizes a model for the host; where its function returns that, the one
    call of the function, by its name or by an entry of the one table that holds it, or that a decorator
    puts it into. A function that quantizes under a condition of its parameters does so for a call under
    what that is given for them."""
    found = [one for one in walk(source.tree) if called(one) in _FOR_HOST]
    if len(found) != 1 or not isinstance(found[0], ast.Call):
        return
    yield Giving(found[0])
    function = around_call(source.tree, found[0])
    if not isinstance(function, ast.FunctionDef):
        return
    calls = list(_calls_of(source.tree, function.name))
    if len(calls) == 1 and _returns(function, found[0]):
        yield calls[0]
    elif len(calls) == 1 and (test := _condition(function, found[0], calls[0])) is not None:
        yield calls[0]._replace(test=test)


def _returns(function: ast.FunctionDef, call: ast.Call) -> bool:
    """Whether all that a function returns is what a call gives."""
    given = [one.value for one in walk(function) if isinstance(one, ast.Return)]
    bound = {
        ast.unparse(target)
        for one in function.body
        if isinstance(one, ast.Assign) and one.value is call
        for target in one.targets
    }
    return bool(given) and all(
        one is call or (one is not None and ast.unparse(one) in bound) for one in given
    )


def _condition(function: ast.FunctionDef, call: ast.Call, giving: Giving) -> ast.expr | None:
    """Under what a call of a function gives what another call within that quantizes, as the caller would
    ask it; None where the function gives it in no case, or that is not known."""
    asked = tests(function, Giving(call))
    names = {ast.unparse(target) for target in _bound_to(function, call)}
    given = [one.value for one in walk(function) if isinstance(one, ast.Return)]
    returned = any(
        one is not None and (_may_be(one, call) or ast.unparse(one) in names) for one in given
    )
    if not asked or not returned or giving.test is not None:
        return None
    told = _arguments(function, giving.call)
    own = {one.id for one in _names(function) if isinstance(one.ctx, ast.Store)}
    read = {one.id for test in asked for one in _names(test)}
    if read & own or not read <= told.keys():
        return None
    whole = asked[0] if len(asked) == 1 else ast.BoolOp(ast.And(), asked)
    given_there: ast.expr = _Told(told).visit(copy.deepcopy(whole))
    return given_there


def _arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    """The names that a call gives for the parameters of a function."""
    return {
        name: one
        for name, one in arguments(function.args.args, call)
        if isinstance(one, ast.Name | ast.Attribute)
        if ast.unparse(one).replace(".", "").isidentifier()
    }


def given_to(call: ast.Call) -> list[ast.expr]:
    """What a call is given, by place or by name."""
    return [*call.args, *(one.value for one in call.keywords)]


def arguments(takes: Sequence[ast.arg], call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """What a call gives by place or by name, with the names of the parameters that take it."""
    for taken, given in zip(takes, call.args, strict=False):
        yield taken.arg, given
    yield from ((one.arg, one.value) for one in call.keywords if one.arg is not None)


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (one for one in walk(node) if isinstance(one, ast.Name))


class _Told(ast.NodeTransformer):
    """Puts what a call gives in the place of a function's parameters."""

    def __init__(self, told: dict[str, ast.expr]) -> None:
        self._told = told

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._told[node.id]


def _calls_of(tree: ast.Module, function: str) -> Iterator[Giving]:
    """The calls of a function of a file."""
    tables = {
        ast.unparse(one.targets[0]): keys
        for one in walk(tree)
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Dict)
        if (keys := list(_keys_of(one.value, function)))
    }
    tables |= _registered(tree, function)
    for one in walk(tree):
        match one:
            case ast.Call(func=ast.Name(id=name)) if name == function:
                yield Giving(one)
            case ast.Call(func=ast.Subscript(value=table, slice=key)):
                keys = tables.get(ast.unparse(table), [])
                if len(keys) == 1 and isinstance(key, ast.Name | ast.Attribute):
                    yield Giving(one, ast.Compare(key, [ast.Eq()], [keys[0]]))


def _keys_of(table: ast.Dict, name: str) -> Iterator[ast.expr]:
    """The keys under which a table holds what a name stands for."""
    for key, value in zip(table.keys, table.values, strict=True):
        if isinstance(value, ast.Name) and value.id == name and isinstance(key, ast.Constant):
            yield key


def _registered(tree: ast.Module, function: str) -> dict[str, list[ast.expr]]:
    """The tables of a file into which a decorator of a function puts it, and the key that it is given."""
    functions = {one.name: one for one in walk(tree) if isinstance(one, ast.FunctionDef)}
    found: dict[str, list[ast.expr]] = {}
    for one in functions[function].decorator_list if function in functions else ():
        match one:
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant() as key]):
                if name in functions:
                    found |= {table: [key] for table in _filled_by(functions[name])}
    return found


def _filled_by(function: ast.FunctionDef) -> Iterator[str]:
    """What a function puts an entry into."""
    for one in walk(function):
        match one:
            case ast.Subscript(value=ast.Name(id=table), ctx=ast.Store()):
                yield table
            case ast.Call(func=ast.Attribute(value=ast.Name(id=table), attr="setdefault")):
                yield table


def tests(around: ast.AST, giving: Giving) -> list[ast.expr]:
    """What holds where a model is quantized, the outermost condition first."""
    found: list[ast.expr] = []
    for one in walk(around):
        if isinstance(one, ast.If | ast.IfExp):
            if _holds(one.body, giving.call):
                found.append(one.test)
            elif _holds(one.orelse, giving.call):
                found.append(ast.UnaryOp(ast.Not(), one.test))
    return [*found, giving.test] if giving.test is not None else found


def _holds(branch: ast.expr | list[ast.stmt], call: ast.Call) -> bool:
    parts: Sequence[ast.AST] = branch if isinstance(branch, list) else [branch]
    return any(each is call for part in parts for each in walk(part))


def moves(around: ast.AST, call: ast.Call) -> Iterator[ast.Call]:
    """The moves of what a call gives, or of what is bound to it."""
    names = {ast.unparse(target) for target in _bound_to(around, call)}
    for one in walk(around):
        match one:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in MOVES:
                if _may_be(owner, call) or ast.unparse(owner) in names:
                    yield one


def _bound_to(around: ast.AST, call: ast.Call) -> Iterator[ast.expr]:
    """What a call, or either of it and something else, is bound to."""
    for one in walk(around):
        if isinstance(one, ast.Assign) and _may_be(one.value, call):
            yield from one.targets


def _may_be(value: ast.expr, call: ast.Call) -> bool:
    """Whether an expression is a call, or that or another one by a condition."""
    return value is call or (isinstance(value, ast.IfExp) and call in (value.body, value.orelse))


def around_call(tree: ast.Module, call: ast.Call) -> ast.AST:
    """The innermost function that a call stands in, else the module."""
    functions = [
        one
        for one in walk(tree)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(each is call for each in walk(one))
    ]
    return functions[-1] if functions else tree
