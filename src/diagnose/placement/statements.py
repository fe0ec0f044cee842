"""Statements of the user's files, executed on abstract values."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Sequence

from diagnose.placement import modules
from diagnose.placement.devices import META
from diagnose.placement.frames import Frame, Machine, joined
from diagnose.placement.model import Step
from diagnose.placement.values import (
    Batch,
    Class,
    Const,
    External,
    Function,
    Loader,
    Module,
    Number,
    Object,
    Place,
    Table,
    Tensor,
    Unknown,
    Value,
)
from diagnose.placement.values import Sequence as Items


class _Leaves(Exception):
    """A return, break, continue or raise: what follows in the block is not reached."""


def execute(machine: Machine, body: Sequence[ast.stmt], frame: Frame) -> None:
    """Executes a block; ends early where it returns."""
    try:
        _block(machine, body, frame)
    except _Leaves:
        return


def _block(machine: Machine, body: Sequence[ast.stmt], frame: Frame) -> None:
    for statement in body:
        machine.spend()
        run = _RUN.get(type(statement))
        if run is not None:
            run(machine, statement, frame)


def _forks(machine: Machine, blocks: Sequence[Sequence[ast.stmt]], frame: Frame) -> None:
    """Blocks of which one runs: each on variables of its own, which are joined where it goes on."""
    before = frame.names
    after: list[dict[str, Value]] = []
    for block in blocks:
        frame.names = dict(before)
        try:
            _block(machine, block, frame)
        except _Leaves:
            continue
        after.append(dict(frame.names))
    if not after:
        frame.names = before
        raise _Leaves
    for name in {name for names in after for name in names}:
        value: Value | None = None
        for names in after:
            value = joined(value, names.get(name))
        if value is not None:
            before[name] = value
    frame.names = before


def _function(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    around = _Around(frame)
    owner = frame.owner if isinstance(frame.owner, Class) else None
    name = f"{owner.node.name}.{node.name}" if owner else node.name
    value: Value = Function(node, frame.source, around, name, owner)
    for decorator in node.decorator_list:
        said = ast.unparse(decorator)
        if said in ("property", "cached_property", "functools.cached_property"):
            value = Object("property")
            value.attributes["get"] = Function(node, frame.source, around, name, owner)
        elif said in ("staticmethod", "classmethod"):
            held = Object("static" if said == "staticmethod" else "class")
            held.attributes["call"] = value
            value = held
    _bind(frame, node.name, value, node)


class _Around(dict[str, Value]):
    """The variables around a function, as they are when it runs."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self._frame = frame

    def get(self, name: str, otherwise: Value | None = None) -> Value | None:  # type: ignore[override]
        if isinstance(self._frame.owner, Class):  # a class body is no scope of its methods
            return self._frame.around.get(name, otherwise)
        found = self._frame.get(name)
        return otherwise if found is None else found


def _class(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.ClassDef)
    made = Class(node, frame.source)
    for base in node.bases:
        value = machine.evaluate(machine, base, frame)
        if isinstance(value, Class):
            made.bases.append(value)
        else:
            made.library.append(
                value.dotted if isinstance(value, External) else ast.unparse(base)[:80]
            )
    inner = Frame(frame.source, {}, _Around(frame), node.name, owner=made)
    with contextlib.suppress(_Leaves):
        _block(machine, node.body, inner)
    made.members = dict(inner.names)
    _bind(frame, node.name, made, node)


def _assign(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Assign)
    value = machine.evaluate(machine, node.value, frame)
    for target in node.targets:
        store(machine, target, value, frame, node)


def _annotated(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.AnnAssign)
    if node.value is not None:
        store(machine, node.target, machine.evaluate(machine, node.value, frame), frame, node)


def _augmented(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.AugAssign)
    load = _loaded(node.target)
    operation = ast.BinOp(left=load, op=node.op, right=node.value)
    ast.copy_location(operation, node)
    value = machine.evaluate(machine, operation, frame)
    held = machine.evaluate(machine, load, frame)
    if isinstance(held, Tensor) and isinstance(value, Tensor):
        value = held.like(held.device)
    elif isinstance(held, Items):
        added = machine.evaluate(machine, node.value, frame)
        held.items.extend(added.every() if isinstance(added, Items) else ())
        value = held
    store(machine, node.target, value, frame, node)


def _loaded(target: ast.expr) -> ast.expr:
    """A target as an expression that reads it; the node stays where it is in the file."""
    match target:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Attribute(value=value, attr=name):
            return ast.copy_location(ast.Attribute(value, name, ast.Load()), target)
        case ast.Subscript(value=value, slice=inside):
            return ast.copy_location(ast.Subscript(value, inside, ast.Load()), target)
    return target


def store(
    machine: Machine, target: ast.expr, value: Value, frame: Frame, statement: ast.stmt
) -> None:
    """Assigns a value to a target."""
    match target:
        case ast.Name(id=name):
            if (
                isinstance(value, Tensor)
                and value.maker == "batch"
                and isinstance(statement, ast.Assign | ast.For)
            ):
                bound = statement.value if isinstance(statement, ast.Assign) else statement
                spot = machine.spot(bound, frame)
                value.steps = (*value.steps[-12:], Step("bound", spot, value.device))
            _bind(frame, name, value, statement)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            for position, each in enumerate(targets):
                if isinstance(each, ast.Starred):
                    rest = list(value.every())[position:] if isinstance(value, Items) else []
                    store(machine, each.value, Items(rest), frame, statement)
                else:
                    store(machine, each, part(value, position), frame, statement)
        case ast.Attribute(value=whose, attr=name):
            owner = machine.evaluate(machine, whose, frame)
            if isinstance(value, Module | Number) and not value.word:
                value.word = ast.unparse(target)
            if isinstance(owner, Module):
                modules.put(machine, owner, name, value, statement, frame)
            elif isinstance(owner, Object):
                if isinstance(value, Tensor):
                    step = Step("stored", machine.spot(statement, frame), value.device)
                    value = value.like(value.device, step)
                owner.attributes[name] = value
            elif isinstance(owner, Tensor) and name == "data" and isinstance(value, Tensor):
                owner.device = value.device
        case ast.Subscript(value=whose, slice=inside):
            owner = machine.evaluate(machine, whose, frame)
            key = machine.evaluate(machine, inside, frame)
            if isinstance(owner, Table | Items):
                modules.hold(owner, value)
            if isinstance(owner, Table):
                if isinstance(key, Const) and isinstance(key.value, str | int):
                    owner.items[key.value] = value
                else:
                    owner.more = value
            elif isinstance(owner, Items):
                owner.more = value
            elif isinstance(owner, Module) and isinstance(value, Module):
                name = str(key.value) if isinstance(key, Const) else "?"
                modules.put(machine, owner, name, value, statement, frame)
            elif isinstance(owner, Tensor) and isinstance(value, Tensor):
                machine.evaluate(machine, _loaded(target), frame)


def part(value: Value, position: int) -> Value:
    """What is unpacked at a position."""
    match value:
        case Items(items=items) if position < len(items):
            return items[position]
        case Items(more=more) if more is not None:
            return more
        case Batch():
            return value.inner.like(value.inner.device)
        case Loader():
            return value.item
        case Table() | Items():
            return Unknown()
        case Tensor():
            return value.like(value.device)
    return Unknown()


def _bind(frame: Frame, name: str, value: Value, statement: ast.AST) -> None:
    if isinstance(value, Module | Number) and not value.word:
        value.word = name
    frame.names[name] = value
    frame.lines.setdefault(name, getattr(statement, "lineno", 0))


def _expression(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Expr)
    value = machine.evaluate(machine, node.value, frame)
    called = node.value.func if isinstance(node.value, ast.Call) else None
    if isinstance(value, Tensor) and isinstance(called, ast.Attribute) and called.attr in _MOVES:
        # A tensor is not moved in place: the result is dropped, and the tensor stays where it is.
        moved = machine.evaluate(machine, called.value, frame)
        if isinstance(moved, Tensor):
            step = Step("dropped", machine.spot(node.value, frame), value.device)
            moved.steps = (*moved.steps, step)


_MOVES = frozenset({"to", "cuda"})


def _return(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Return)
    value = machine.evaluate(machine, node.value, frame) if node.value else Const(None)
    frame.result.append(value)
    raise _Leaves


def _leave(machine: Machine, node: ast.AST, frame: Frame) -> None:
    raise _Leaves


def _if(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.If)
    test = truth(machine, node.test, frame)
    if test is not None:
        _block(machine, node.body if test else node.orelse, frame)
        return
    _forks(machine, (node.body, node.orelse), frame)


def truth(machine: Machine, node: ast.expr, frame: Frame) -> bool | None:
    """Whether a test holds, on a machine with GPUs; None where source does not tell."""
    if isinstance(node, ast.Compare) and ast.unparse(node.left) == "__name__":
        return True
    value = machine.evaluate(machine, node, frame)
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Module | Tensor | Function | Class):
        return True if not isinstance(value, Tensor) else None
    return None


def _loop(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.For | ast.AsyncFor)
    items = machine.evaluate(machine, node.iter, frame)
    known = _known(items) if machine.nested < _NESTED else None
    machine.nested += 1
    try:
        for item in known or (element(items),):
            store(machine, node.target, item, frame, node)
            _body(machine, node.body, frame)
    finally:
        machine.nested -= 1


#: Loops within loops that are run item by item, and their items.
_NESTED = 2
_ITEMS = 8


def _known(items: Value) -> list[Value] | None:
    """The items of a loop where there are few and all are known."""
    if isinstance(items, Items) and items.more is None and 0 < len(items.items) <= _ITEMS:
        return list(items.items)
    if (
        isinstance(items, Module)
        and 0 < len(items.children) <= _ITEMS
        and items.kind == "ModuleList"
    ):
        return list(items.children.values())
    return None


def _while(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.While)
    machine.evaluate(machine, node.test, frame)
    _body(machine, node.body, frame)


def _body(machine: Machine, body: Sequence[ast.stmt], frame: Frame) -> None:
    try:
        _block(machine, body, frame)
    except _Leaves:
        return


def element(value: Value) -> Value:
    """What a loop over a value binds."""
    match value:
        case Items(items=[first, *_]) if value.more is None or not isinstance(first, Unknown):
            return first
        case Items(more=more) if more is not None:
            return more
        case Loader():
            return value.item
        case Batch():
            return value.inner.like(value.inner.device)
        case Tensor():
            return value.like(value.device)
        case Module():
            return next(iter(value.children.values()), Unknown())
        case Table():
            return Unknown()
    return Unknown()


def _with(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.With | ast.AsyncWith)
    default = machine.default, machine.default_of
    for item in node.items:
        value = machine.evaluate(machine, item.context_expr, frame)
        before = machine.default
        if isinstance(value, Place):
            machine.default = value.device
        elif "init_empty_weights" in ast.unparse(item.context_expr):
            machine.default = META
        if (machine.default is META and before is not META) or machine.default != before:
            machine.default_of = machine.spot(item.context_expr, frame)
        if item.optional_vars is not None:
            store(machine, item.optional_vars, value, frame, node)
    try:
        _block(machine, node.body, frame)
    finally:
        machine.default, machine.default_of = default


def _try(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Try)
    handlers = [handler.body for handler in node.handlers]
    _forks(machine, ([*node.body, *node.orelse], *handlers), frame)
    _block(machine, node.finalbody, frame)


def _import(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Import)
    for alias in node.names:
        name = alias.asname or alias.name.split(".")[0]
        wanted = alias.name if alias.asname else name
        _bind(frame, name, machine.load(machine, wanted, 0, frame) or External(wanted), node)


def _import_from(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.ImportFrom)
    base = machine.load(machine, node.module or "", node.level, frame)
    for alias in node.names:
        name = alias.asname or alias.name
        value: Value | None = None
        if isinstance(base, Object):
            value = base.attributes.get(alias.name)
            if value is None:
                path = f"{node.module}.{alias.name}" if node.module else alias.name
                value = machine.load(machine, path, node.level, frame) or Unknown(alias.name)
        _bind(frame, name, value or External(f"{node.module or ''}.{alias.name}"), node)


def _delete(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Delete)
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.names.pop(target.id, None)


def _assert(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Assert)
    machine.evaluate(machine, node.test, frame)


_RUN = {
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.Break: _leave,
    ast.Continue: _leave,
    ast.Raise: _leave,
    ast.If: _if,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Delete: _delete,
    ast.Assert: _assert,
}
_ = Number
