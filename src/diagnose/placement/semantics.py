"""One file, asked by meaning: what a node stands in, what is called with what, what binds a name.

A tree is read once and never changed, so that what is found of a file, a class or a function is kept.
Names follow `ast` and the semantic model of ruff (`ruff_python_semantic`): bindings, references, scopes.
"""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = Function | ast.ClassDef
_Node = TypeVar("_Node", bound=ast.AST)


def walk(node: ast.AST) -> Sequence[ast.AST]:
    """A node and all below it, in the order of `ast.walk`."""
    if isinstance(node, ast.Module):
        return _of_file(node)
    return _of_definition(node) if isinstance(node, _Definition) else _below(node)


def _below(node: ast.AST) -> Sequence[ast.AST]:
    found = [node]
    for one in found:  # which grows
        for name in one._fields:
            value = getattr(one, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [each for each in value if isinstance(each, ast.AST)]
    return found


#: Few files are looked at at once, and each has many definitions.
_of_file = lru_cache(maxsize=16)(_below)
_of_definition = lru_cache(maxsize=1024)(_below)


def nodes(scope: ast.AST, *kinds: type[_Node]) -> Iterator[_Node]:
    """The nodes of some kinds in a node, itself among them."""
    return (one for one in walk(scope) if isinstance(one, kinds))


# --- what stands in what ------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _parents(tree: ast.Module) -> Mapping[int, ast.AST]:
    """What each node of a file stands in, by the node's identity."""
    return {id(inner): outer for outer in walk(tree) for inner in ast.iter_child_nodes(outer)}


def path_to(tree: ast.Module, node: ast.AST) -> list[ast.AST]:
    """What a node stands in, outermost first, itself last; nothing where it is not in the file."""
    parents = _parents(tree)
    path = [node]
    while (outer := parents.get(id(path[-1]))) is not None:
        path.append(outer)
    return path[::-1] if path[-1] is tree else []


def around(tree: ast.Module, node: ast.AST, *kinds: type[_Node]) -> Iterator[_Node]:
    """The nodes of some kinds that a node stands in, innermost first."""
    return (one for one in reversed(path_to(tree, node)[:-1]) if isinstance(one, kinds))


def scope_of(tree: ast.Module, node: ast.AST) -> Function | ast.Module:
    """The innermost function that a node stands in, else the file."""
    return next((one for one in path_to(tree, node)[-2::-1] if isinstance(one, Function)), tree)


def holds(outer: ast.AST, node: ast.AST) -> bool:
    """Whether a node is another one or stands in it."""
    return any(one is node for one in walk(outer))


def top(tree: ast.Module) -> list[ast.stmt]:
    """The statements of a file that are no function and no class."""
    return [one for one in tree.body if not isinstance(one, _Definition)]


@lru_cache(maxsize=16)
def functions_by_line(tree: ast.Module) -> Mapping[int, Function]:
    """The innermost function that each line of a file is in."""
    return {
        line: one
        for one in walk(tree)  # outer ones come first
        if isinstance(one, Function)
        for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)
    }


# --- calls --------------------------------------------------------------------------------------------


def called(node: ast.AST) -> str:
    """The last name of what a call calls: ``load`` for ``torch.load(path)``; empty for other nodes."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name
    return ""


def calls(scope: ast.AST, *names: str) -> list[ast.Call]:
    """The calls in a node, outermost first; of some last names alone where there are any."""
    if isinstance(scope, ast.Module):
        known = _calls_of_file(scope)
        return [one for name in names for one in known.get(name, ())] if names else known[""]
    return [one for one in nodes(scope, ast.Call) if not names or called(one) in names]


@lru_cache(maxsize=16)
def _calls_of_file(tree: ast.Module) -> Mapping[str, list[ast.Call]]:
    """The calls of a file by their last names, and all by the empty one."""
    found = defaultdict[str, list[ast.Call]](list)
    for one in nodes(tree, ast.Call):
        found[""].append(one)
        if name := called(one):
            found[name].append(one)
    found[""]  # of a file without any
    return dict(found)


def calls_around(tree: ast.Module, node: ast.AST) -> list[ast.Call]:
    """The calls of the innermost function that a node stands in, else those of the file that stand in no
    function and no class."""
    outer = scope_of(tree, node)
    return [call for one in (top(tree) if outer is tree else [outer]) for call in calls(one)]


def argument(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    """What a call gives by name, or else at a position; None where it leaves that out."""
    listed = position is not None and 0 <= position < len(call.args)
    at = call.args[position] if listed and position is not None else None
    return next((one.value for one in call.keywords if one.arg == name), at)


# --- functions ----------------------------------------------------------------------------------------


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """The parameters of a function that have names of their own, those that only a keyword gives last."""
    args = function.args
    return [*args.posonlyargs, *args.args, *args.kwonlyargs]


def defaults(function: Function) -> dict[str, ast.expr]:
    """The parameters that a call may leave out, each with what it is then."""
    given = function.args
    listed = [*given.posonlyargs, *given.args]
    pairs = (
        *zip(listed[len(listed) - len(given.defaults) :], given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    )
    return {one.arg: default for one, default in pairs if default is not None}


def defined(tree: ast.Module, name: str) -> Iterator[Function]:
    """The functions that a name may call, as a file defines them; of a class its ``__init__``."""
    for one in nodes(tree, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
        if isinstance(one, Function) and one.name == name:
            yield one
        elif isinstance(one, ast.ClassDef) and one.name == name:
            yield from (
                each for each in one.body if isinstance(each, Function) and each.name == "__init__"
            )


def is_property(function: Function) -> bool:
    """Whether a method is read as an attribute."""
    marks = (ast.unparse(one).rpartition(".")[2] for one in function.decorator_list)
    return any(mark in ("property", "cached_property") for mark in marks)


def given_by_calls(tree: ast.Module, function: Function, name: str) -> Iterator[ast.expr | None]:
    """What the calls of a function of a file, or of its class for an ``__init__``, give a parameter: None
    where one leaves it out; none for the object of a method."""
    owner = next((one for one in nodes(tree, ast.ClassDef) if function in one.body), None)
    made = owner.name if owner is not None and function.name == "__init__" else function.name
    position = [one.arg for one in parameters(function)].index(name) - (owner is not None)
    return (argument(one, name, position) for one in calls(tree, made) if position >= 0)


# --- bindings and references --------------------------------------------------------------------------


class Binding(NamedTuple):
    """A name or attribute that a statement or a walrus sets, and to what: None for what a loop, a tuple
    that is unpacked, a ``with`` or an import gives."""

    target: ast.expr
    value: ast.expr | None
    by: ast.AST


def bindings(scope: ast.AST) -> Iterator[Binding]:
    """What is bound in a node, from top to bottom of its tree; of a written tuple, each of its elements.

    Parameters, functions, classes and what is deleted are none.
    """
    for node in walk(scope):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _unpacked(target, value, node)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield Binding(target, value, node)
            case ast.NamedExpr(target=target, value=value):
                yield Binding(target, value, node)
            case ast.AugAssign(target=target):
                yield Binding(target, None, node)
            case ast.For(target=target) | ast.AsyncFor(target=target):
                yield from _unpacked(target, None, node)
            case ast.comprehension(target=target):
                yield from _unpacked(target, None, node)
            case ast.withitem(optional_vars=ast.expr() as target):
                yield from _unpacked(target, None, node)


def _unpacked(target: ast.expr, value: ast.expr | None, by: ast.AST) -> Iterator[Binding]:
    """The elements of what is unpacked, each with its own part of a value that is written as such."""
    match target:
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            written = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(targets)
            plain = written and not any(isinstance(one, ast.Starred) for one in targets)
            values = value.elts if plain and isinstance(value, ast.Tuple | ast.List) else ()
            for position, one in enumerate(targets):
                yield from _unpacked(one, values[position] if values else None, by)
        case ast.Starred(value=inner):
            yield from _unpacked(inner, None, by)
        case _:
            yield Binding(target, value, by)


def dotted(node: ast.AST) -> str | None:
    """``self.encoder.embed`` for such a chain of names and attributes, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def bound(scope: ast.AST, name: str) -> list[Binding]:
    """The bindings of a name, or of an attribute such as ``self.table``, in a node."""
    return [one for one in bindings(scope) if dotted(one.target) == name]


def assigned(scope: ast.AST, name: str) -> list[ast.Assign]:
    """The statements of a node that set a name, or an attribute, to all that they compute."""
    made = ((one.target, one.by) for one in bound(scope, name))
    return [by for one, by in made if isinstance(by, ast.Assign) and one in by.targets]


def bound_names(scope: ast.AST, above: float = math.inf) -> list[str]:
    """The names that a node binds, in the order of `walk`: parameters, and what is set above a line."""
    binders = (one for one in walk(scope) if isinstance(one, ast.arg | ast.Name))
    return [
        one.arg if isinstance(one, ast.arg) else one.id
        for one in binders
        if isinstance(one, ast.arg) or (isinstance(one.ctx, ast.Store) and one.lineno < above)
    ]


def mentions(scope: ast.AST, *names: str) -> bool:
    """Whether a node reads or binds one of some names, or attributes such as ``self.table``."""
    return any(dotted(one) in names for one in nodes(scope, ast.Name, ast.Attribute))


def reads(scope: ast.AST, name: str) -> bool:
    """Whether a node reads a name, or an attribute such as ``self.table``."""
    return any(
        isinstance(one, ast.Name | ast.Attribute)
        and isinstance(one.ctx, ast.Load)
        and dotted(one) == name
        for one in walk(scope)
    )


def names(scope: ast.AST) -> list[str]:
    """The plain names in a node, read or bound, in the order of `walk`."""
    return [one.id for one in nodes(scope, ast.Name)]
