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
from itertools import takewhile
from typing import NamedTuple, TypeVar, overload

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = Function | ast.ClassDef
_Node = TypeVar("_Node", bound=ast.AST)
_Other = TypeVar("_Other", bound=ast.AST)
_Third = TypeVar("_Third", bound=ast.AST)


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


@overload
def nodes(scope: ast.AST, one: type[_Node], /) -> Iterator[_Node]: ...
@overload
def nodes(scope: ast.AST, one: type[_Node], other: type[_Other], /) -> Iterator[_Node | _Other]: ...
@overload
def nodes(
    scope: ast.AST, one: type[_Node], other: type[_Other], /, *more: type[_Third]
) -> Iterator[_Node | _Other | _Third]: ...
def nodes(scope: ast.AST, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of some kinds in a node, itself among them."""
    if isinstance(scope, ast.Module):
        return iter(_kinds_of_file(scope, kinds))
    return (one for one in walk(scope) if isinstance(one, kinds))


@lru_cache(maxsize=128)
def _kinds_of_file(tree: ast.Module, kinds: tuple[type[ast.AST], ...]) -> Sequence[ast.AST]:
    """The nodes of some kinds in a file, which is asked for them again and again."""
    return [one for one in walk(tree) if isinstance(one, kinds)]


def functions(scope: ast.AST) -> Iterator[Function]:
    """The functions that are defined in a node, itself among them, outermost first."""
    return nodes(scope, ast.FunctionDef, ast.AsyncFunctionDef)


def holds(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether a node is another one or stands in it."""
    return any(one is inner for one in walk(outer))


# --- what stands in what ------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _parents(tree: ast.Module) -> Mapping[int, ast.AST]:
    """What each node of a file stands in, by the node's identity."""
    return {id(inner): outer for outer in walk(tree) for inner in ast.iter_child_nodes(outer)}


def parent(tree: ast.Module, node: ast.AST) -> ast.AST | None:
    """What a node itself is a part of; None for the file and for what is not in it."""
    return _parents(tree).get(id(node))


def path_to(tree: ast.Module, node: ast.AST) -> list[ast.AST]:
    """What a node stands in, outermost first, itself last; nothing where it is not in the file."""
    path = [node]
    while (outer := parent(tree, path[-1])) is not None:
        path.append(outer)
    return path[::-1] if path[-1] is tree else []


@overload
def around(tree: ast.Module, node: ast.AST, one: type[_Node], /) -> Iterator[_Node]: ...
@overload
def around(
    tree: ast.Module, node: ast.AST, one: type[_Node], other: type[_Other], /, *more: type[_Other]
) -> Iterator[_Node | _Other]: ...
def around(tree: ast.Module, node: ast.AST, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of some kinds that a node stands in, innermost first."""
    return (one for one in reversed(path_to(tree, node)[:-1]) if isinstance(one, kinds))


def lines_of(first: ast.AST, last: ast.AST | None = None) -> range:
    """The lines of a node, or from the first of one to the last of another."""
    begins, ends = getattr(first, "lineno", 0), getattr(last or first, "end_lineno", None)
    return range(begins, (ends or begins) + 1)


def scope_of(tree: ast.Module, node: ast.AST) -> Function | ast.Module:
    """The innermost function that a node stands in, else the file."""
    return next(around(tree, node, ast.FunctionDef, ast.AsyncFunctionDef), tree)


def top(tree: ast.Module) -> list[ast.stmt]:
    """The statements of a file that are no function and no class."""
    return [one for one in tree.body if not isinstance(one, _Definition)]


@lru_cache(maxsize=16)
def functions_by_line(tree: ast.Module) -> Mapping[int, Function]:
    """The innermost function that each line of a file is in."""
    return {
        line: one
        for one in functions(tree)  # outer ones come first
        for line in lines_of(one)
    }


# --- calls --------------------------------------------------------------------------------------------


def last_name(node: ast.AST | None) -> str:
    """A name, or that of an attribute: ``load`` for ``torch.load``; empty for other nodes."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def called(node: ast.AST) -> str:
    """The last name of what a call calls: ``load`` for ``torch.load(path)``; empty for other nodes."""
    return last_name(node.func) if isinstance(node, ast.Call) else ""


def calls(scope: ast.AST, *names: str) -> Sequence[ast.Call]:
    """The calls in a node, outermost first; of some last names alone where there are any."""
    if isinstance(scope, ast.Module | _Definition):
        known = _calls_by_name(scope)
        found = [known[name] for name in names or ("",) if name in known]
        if len(found) < 2:
            return found[0] if found else []
    return [one for one in nodes(scope, ast.Call) if not names or called(one) in names]


@lru_cache(maxsize=1024)
def _calls_by_name(scope: ast.AST) -> Mapping[str, Sequence[ast.Call]]:
    """The calls of a file or a definition by their last names, and all by the empty one."""
    found = defaultdict[str, list[ast.Call]](list)
    for one in nodes(scope, ast.Call):
        found[""].append(one)
        if name := called(one):
            found[name].append(one)
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


def arguments(call: ast.Call) -> list[ast.expr]:
    """All that a call is given, what has names last."""
    return [*call.args, *(one.value for one in call.keywords)]


def unpacks(call: ast.Call) -> bool:
    """Whether a call is given what another value holds (``*``, ``**``), and so may tell any parameter."""
    named = any(one.arg is None for one in call.keywords)
    return named or any(isinstance(one, ast.Starred) for one in call.args)


# --- functions ----------------------------------------------------------------------------------------


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """The parameters of a function that have names of their own, those that only a keyword gives last."""
    args = function.args
    return [*args.posonlyargs, *args.args, *args.kwonlyargs]


def positional(function: Function | ast.Lambda) -> list[ast.arg]:
    """The parameters of a function that a call may give by their positions."""
    return [*function.args.posonlyargs, *function.args.args]


def bound_arguments(function: Function, call: ast.AST) -> dict[str, ast.expr]:
    """What a call gives the parameters of a function, as far as these stand there one by one; nothing for
    the object of a method."""
    if not isinstance(call, ast.Call):
        return {}
    listed = [one.arg for one in positional(function)]
    if listed[:1] in (["self"], ["cls"]):
        del listed[0]
    shown = takewhile(lambda one: not isinstance(one, ast.Starred), call.args)
    known = {one.arg for one in parameters(function)}
    named = {one.arg: one.value for one in call.keywords if one.arg in known}
    return dict(zip(listed, shown, strict=False)) | named


def defaults(function: Function | ast.Lambda) -> dict[str, ast.expr]:
    """The parameters that a call may leave out, each with what it is then."""
    given, listed = function.args, positional(function)
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


def decorators(definition: ast.AST) -> list[str]:
    """The last names of what decorates a function or a class, called there or not."""
    marks: list[ast.expr] = getattr(definition, "decorator_list", [])
    said = (dotted(one.func if isinstance(one, ast.Call) else one) or "" for one in marks)
    return [one.rpartition(".")[2] for one in said]


def is_property(function: Function) -> bool:
    """Whether a method is read as an attribute."""
    return any(one in ("property", "cached_property") for one in decorators(function))


def class_of(tree: ast.Module, function: Function) -> ast.ClassDef | None:
    """The class of which a function is a method."""
    return next((one for one in nodes(tree, ast.ClassDef) if function in one.body), None)


def calls_of(tree: ast.Module, function: Function) -> Sequence[ast.Call]:
    """The calls of a function of a file, or of its class for an ``__init__``."""
    owner = class_of(tree, function) if function.name == "__init__" else None
    return calls(tree, owner.name if owner is not None else function.name)


def position_of(tree: ast.Module, function: Function, name: str) -> int | None:
    """How many arguments come before a parameter: -1 for the object of a method, None for a parameter that
    has to be named."""
    listed = [one.arg for one in positional(function)]
    bound = class_of(tree, function) is not None
    return listed.index(name) - bound if name in listed else None


def given_by_calls(tree: ast.Module, function: Function, name: str) -> Iterator[ast.expr | None]:
    """What the calls of a function give a parameter: None where one leaves it out; none for the object of
    a method."""
    position = position_of(tree, function, name)
    return (argument(one, name, position) for one in calls_of(tree, function) if position != -1)


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
    return (one for node in walk(scope) for one in bindings_by(node))


def bindings_by(node: ast.AST) -> Iterator[Binding]:
    """What a statement or a walrus itself binds, not what stands in its blocks."""
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
        case (
            ast.For(target=target) | ast.AsyncFor(target=target) | ast.comprehension(target=target)
        ):
            yield from _unpacked(target, None, node)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for target in (one.optional_vars for one in items if one.optional_vars):
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


def stored(scope: ast.AST) -> Iterator[ast.Name]:
    """The plain names that are bound in a node, where they stand in it."""
    return (one for one in _plain_names(scope) if isinstance(one.ctx, ast.Store))


def stored_attributes(scope: ast.AST) -> Iterator[ast.Attribute]:
    """The attributes that a node sets, of whatever objects."""
    return (one for one in nodes(scope, ast.Attribute) if isinstance(one.ctx, ast.Store))


def loads(scope: ast.AST, name: str | None = None) -> list[ast.Name]:
    """Where a node reads a name, or any."""
    read = (one for one in _plain_names(scope) if name in (None, one.id))
    return [one for one in read if isinstance(one.ctx, ast.Load)]


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


def binds(name: str, *scopes: ast.AST) -> bool:
    """Whether one of some nodes binds a name, or imports it."""
    imported = (one.asname or one.name for each in scopes for one in nodes(each, ast.alias))
    return any(name in bound_names(each) for each in scopes) or name in imported


def binds_above(block: Sequence[ast.stmt], name: str, line: int) -> bool:
    """Whether a block binds a name above a line, whatever its tests say: a loop runs, an ``if`` may not."""
    return any(_binds_above(one, name, line) for one in block if one.lineno < line)


def _binds_above(statement: ast.stmt, name: str, line: int) -> bool:
    inner = [each for each in _blocks(statement) if each]
    if inner and line in lines_of(statement):
        around = next((each for each in inner if line in lines_of(each[0], each[-1])), [])
        return binds_above(around, name, line) or name in bound_names(statement, inner[0][0].lineno)
    if not isinstance(statement, ast.If):
        return name in bound_names(statement)
    ends = ast.Return | ast.Raise | ast.Continue | ast.Break
    each_way = (isinstance(one[-1], ends) or binds_above(one, name, line) for one in inner)
    return len(inner) > 1 and all(each_way)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks of a statement, of which each may run without the others."""
    yield from (getattr(statement, field, []) for field in ("body", "orelse", "finalbody"))
    yield from (one.body for one in getattr(statement, "handlers", ()))


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
    return [one.id for one in _plain_names(scope)]


def _plain_names(scope: ast.AST) -> Iterator[ast.Name]:
    return nodes(scope, ast.Name)
