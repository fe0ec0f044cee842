"""What a program brings to an accelerator by a function of its own, and the call that goes without it.

A low-memory mode of a program's own keeps its parts on the host, and has one function that brings a part
where it is used: ``with self.on_card("decoder") as decoder``, or ``self.cache.need(self.model)(x)``. A call
of a part that is not brought so is told by its form, wherever the analysis does not know where the part is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from diagnose.placement.model import Source
from diagnose.placement.walking import walk

_Function = ast.FunctionDef | ast.AsyncFunctionDef
CAUSE = "low-memory-mode"
_HOST = ("'cpu'", "torch.device('cpu')", "cpu")


class _Brings(NamedTuple):
    """A function that moves a part to an accelerator; whether a ``with`` enters it, else its call gives the
    part, or several; the table of its object (``parts``) that it is given a key of, and whether the object
    has the entries as attributes, too."""

    name: str
    entered: bool
    table: str | None = None
    several: bool = False
    attributes: bool = False


class Forgotten(NamedTuple):
    """A call of a part that is not brought, or of a method of it, the part as it stands there, how others
    are brought (``self.on_card("decoder")``), and whether that is what a ``with`` enters."""

    call: ast.Call
    used: ast.expr
    brought: str
    entered: bool


def forgotten(source: Source, line: int) -> Forgotten | None:
    """The call in a line of a part that the program brings nowhere around it, as it does with others.

    Args:
        source: the file.
        line: the number of the line.

    Returns:
        The innermost such call; None where there is none.
    """
    found = None
    for by in _bringing(source.tree):
        for path in _paths(source.tree, line):
            call = path[-1]
            assert isinstance(call, ast.Call)
            used, part = call.func, _part(by, call.func, path)
            if part is None and (whole := _whose_method(source.tree, by, call.func)) is not None:
                used, part = whole, _part(by, whole, path)
            func = _as_elsewhere(source.tree, by, part, path) if part is not None else None
            if by.table and func is not None and not _of_one(func, used):
                func = None
            if func is not None and part is not None:
                given = _text(source, part) or f'"{getattr(part, "value", "")}"'
                brought = f"{_text(source, func)}({given})"
                brought = f"{brought}[0]" if by.several else brought
                found = Forgotten(call, used, brought, by.entered)
    return found


def _whose_method(tree: ast.Module, by: _Brings, func: ast.expr) -> ast.expr | None:
    """What a method is called on that a function is given elsewhere to bring it; None for other calls."""
    whole = func.value if isinstance(func, ast.Attribute) else None
    for one in walk(tree) if whole is not None else ():
        match one:
            case (
                ast.Call(func=ast.Name(id=name), args=[given])
                | ast.Call(func=ast.Attribute(attr=name), args=[given])
            ) if name == by.name and whole is not None and _same(given, whole):
                return whole
    return None


def _text(source: Source, node: ast.AST) -> str | None:
    """What stands in the file; None for a node of ours."""
    return ast.get_source_segment(source.text, node) if hasattr(node, "lineno") else None


@lru_cache(maxsize=8)
def _bringing(tree: ast.Module) -> tuple[_Brings, ...]:
    """The functions that bring, of classes or functions that take back to the host what they brought."""
    found: list[_Brings] = []
    owners: list[ast.Module | ast.ClassDef] = [
        tree,
        *(one for one in walk(tree) if isinstance(one, ast.ClassDef)),
    ]
    for owner in owners:
        for node in owner.body:
            if isinstance(node, _Function):
                within = any(ast.unparse(d).endswith("contextmanager") for d in node.decorator_list)
                if any(map(_parks, walk(node if within else owner))):
                    by = [*_brings(node, entered=within), *_brings_one_of_all(node)]
                    found += [one._replace(attributes=_has_attributes(owner)) for one in by]
    return tuple(found)


def _has_attributes(owner: ast.Module | ast.ClassDef) -> bool:
    return any(isinstance(one, _Function) and one.name == "__getattr__" for one in owner.body)


def _brings_one_of_all(function: _Function) -> Iterator[_Brings]:
    """One that goes through a table of parts, brings those whose keys it is given, and parks the rest."""
    several = function.args.vararg
    given = {one.arg for one in (*function.args.args, *([several] if several else []))} - {"self"}
    for node in walk(function):
        match node:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(), ast.Name(id=part)]),
                iter=ast.Call(func=ast.Attribute(value=ast.Attribute(attr=table), attr="items")),
            ) if any(_chooses(one, part, given) for one in walk(node)):
                yield _Brings(
                    function.name, entered=False, table=table, several=several is not None
                )


def _chooses(node: ast.AST, part: str, given: set[str]) -> bool:
    """Whether a node moves a part to the host where it is none of those that are given."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=moved), attr="to"),
            args=[ast.IfExp(test=test, orelse=rest)],
        ) if moved == part and _is_host(rest):
            return any(isinstance(one, ast.Name) and one.id in given for one in walk(test))
    return False


def _is_host(device: ast.expr) -> bool:
    return ast.unparse(device).lower() in _HOST


def _brings(function: _Function, *, entered: bool) -> Iterator[_Brings]:
    given = [one.arg for one in function.args.args if one.arg != "self"]
    held = {
        ast.unparse(one.targets[0]): one.value
        for one in walk(function)
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Subscript)
    }
    for moved in filter(None, map(_moved, walk(function))):
        item = held.get(moved)
        keyed = isinstance(item, ast.Subscript) and ast.unparse(item.slice) in given[:1]
        if (keyed or moved in given[:1]) and (entered or _gives(function, moved)):
            table = item.value if isinstance(item, ast.Subscript) and keyed else None
            if not keyed or isinstance(table, ast.Attribute):
                yield _Brings(function.name, entered, getattr(table, "attr", None))
            return


def _moved(node: ast.AST) -> str | None:
    """What a node moves to another device than the host."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="cuda")):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="to"), args=[device, *_]):
            return name if not _is_host(device) else None
    return None


def _parks(node: ast.AST) -> bool:
    """Whether a statement takes something to the host, where it stays."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="cpu"), args=[])):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="to"), args=[device])):
            return _is_host(device.orelse if isinstance(device, ast.IfExp) else device)
    return False


def _gives(function: _Function, name: str) -> bool:
    returned = [one.value for one in walk(function) if isinstance(one, ast.Return)]
    return bool(returned) and all(
        one is not None and ast.unparse(one).partition(".")[0] == name for one in returned
    )


def _paths(tree: ast.AST, line: int) -> Iterator[list[ast.AST]]:
    """The calls of a line, outer ones first, each with what it stands in."""

    def walk(path: list[ast.AST]) -> Iterator[list[ast.AST]]:
        if isinstance(path[-1], ast.Call) and path[-1].lineno <= line:
            yield path
        for inner in ast.iter_child_nodes(path[-1]):
            first, last = getattr(inner, "lineno", None), getattr(inner, "end_lineno", None)
            if first is None or last is None or first <= line <= last:
                yield from walk([*path, inner])

    yield from walk([tree])


def _part(by: _Brings, func: ast.expr, path: list[ast.AST]) -> ast.expr | None:
    """What a function would be given to bring what is called: itself, or its key; None for no part."""
    match func:
        case ast.Subscript(value=ast.Attribute() as table, slice=ast.Constant() as key) if by.table:
            return key if table.attr == by.table else None
        case ast.Attribute(attr=name) if by.attributes and by.table:
            keys = (one.value for one in walk(path[0]) if isinstance(one, ast.Constant))
            return ast.Constant(name) if name in keys else None
        case ast.Attribute(value=ast.Name(id="self")) if by.table is None:
            made = next((one for one in reversed(path) if isinstance(one, ast.ClassDef)), None)
            return func if made is not None and _made(made, func) else None
        case ast.Name() if by.table is None:
            return func if _made(path[0], func) else None
    return None


def _of_one(func: ast.expr, item: ast.expr) -> bool:
    """Whether ``pager.use`` is a method of the object that ``pager.parts["text"]`` is an entry of, or of
    which ``pager.text`` is one."""
    both = (func, item.value if isinstance(item, ast.Subscript) else item)
    owners = [ast.unparse(one.value) for one in both if isinstance(one, ast.Attribute)]
    return len(owners) == 2 and owners[0] == owners[1]


def _made(where: ast.AST, part: ast.expr) -> bool:
    """Whether a part is bound once, to what is made or given."""
    bound = []
    for node in walk(where):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                bound += [v for t, v in zip(targets, values, strict=False) if _same(t, part)]
            case ast.Assign(targets=targets, value=value):
                bound += [value for target in targets for t in walk(target) if _same(t, part)]
            case ast.withitem(optional_vars=ast.expr() as name, context_expr=value):
                bound += [value, value] if _same(name, part) else []
            case ast.arg(arg=name) if isinstance(part, ast.Name) and name == part.id:
                return False
    return len(bound) == 1 and isinstance(bound[0], ast.Call | ast.Name | ast.Attribute)


def _same(one: ast.AST, other: ast.expr) -> bool:
    return type(one) is type(other) and ast.unparse(one) == ast.unparse(other)


def _as_elsewhere(
    tree: ast.Module, by: _Brings, part: ast.expr, path: list[ast.AST]
) -> ast.expr | None:
    """The function as the program calls it where that can be written here, too; None where it cannot, or
    where the part is brought."""
    functions = [one for one in path if isinstance(one, _Function)]
    here = {id(node) for node in walk(functions[0] if functions else tree)}
    withs = [one for one in path if isinstance(one, ast.With | ast.AsyncWith)]
    around = {id(item.context_expr) for one in withs for item in one.items}
    classes = [one for one in path if isinstance(one, ast.ClassDef)]
    own = {id(node) for node in walk(classes[-1])} if classes else set()
    found = None
    for ask in walk(tree):
        match ask:
            case ast.Call(func=ast.Name(id=name), args=[given]) if name == by.name:
                reach = True
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[given]) if (
                name == by.name
            ):
                root = ast.unparse(owner).partition(".")[0]
                reach = id(ask) in own if root == "self" else id(ask) in here
            case _:
                continue
        brought = around if by.entered else here
        if id(ask) in brought and _same(given, part):
            return None
        if reach and found is None:
            found = ask.func
    return found
