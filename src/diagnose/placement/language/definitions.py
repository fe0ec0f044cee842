"""Functions, classes and imports of the user's files."""

from __future__ import annotations

import ast

from diagnose.placement.assignments import bind
from diagnose.placement.machine import Arguments, Given, Machine, Partial
from diagnose.placement.tensors import Tensor
from diagnose.placement.values import (
    Around,
    Class,
    External,
    Frame,
    Function,
    Object,
    Unknown,
    Value,
)


def function(machine: Machine, node: ast.AST, frame: Frame) -> None:
    """Binds a function of the user's."""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    owner = frame.owner if frame.is_class_body() and isinstance(frame.owner, Class) else None
    name = f"{owner.node.name}.{node.name}" if owner else node.name
    made = Function(node, frame.source, Around(frame), name, owner)
    made.held = _held(node, frame)
    value: Value = made
    for decorator in reversed(node.decorator_list):
        said = ast.unparse(decorator)
        if said in ("property", "cached_property", "functools.cached_property"):
            held = Object("property")
            held.attributes["get"], value = value, held
        elif said in ("staticmethod", "classmethod"):
            held = Object("static" if said == "staticmethod" else "class")
            if said == "staticmethod" and isinstance(value, Function):
                value.owner = None  # it is given no object
            held.attributes["call"], value = value, held
        else:
            value = _decorated(machine, decorator, value, frame)
        if frame.function is not None and _is_handed(machine, decorator, frame):
            machine.hung.append((value, frame))
    bind(frame, node.name, value, node)


def _held(node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> dict[ast.expr, Value]:
    """The defaults of a function that are variables with tensors: they stay what they are now."""
    defaults = (*node.args.defaults, *node.args.kw_defaults)
    named = {one: frame.get(one.id) for one in defaults if isinstance(one, ast.Name)}
    return {one: value for one, value in named.items() if isinstance(value, Tensor)}


def _is_handed(machine: Machine, decorator: ast.expr, frame: Frame) -> bool:
    """Whether a decorator hands a function to an object that calls it, as ``@app.route("/")`` does."""
    match decorator:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            return not isinstance(frame.get(name), External | Class | Function | None)
    return False


def _decorated(machine: Machine, decorator: ast.expr, value: Value, frame: Frame) -> Value:
    """What a decorator of the user's makes of a function or class; others are taken to leave it."""
    call = isinstance(decorator, ast.Call)
    by = machine.evaluate(machine, decorator.func if call else decorator, frame)  # type: ignore[attr-defined]
    known = by.attributes.get("call") if isinstance(by, Object) else by
    if not isinstance(known, Function | Class | Partial):
        return value
    if call:
        by = machine.evaluate(machine, decorator, frame)
    given = Arguments([Given(decorator, value)])
    made = machine.invoke(machine, by, given, decorator, frame)
    if isinstance(made, Function) and isinstance(value, Function) and made is not value:
        made.undecorated = value.undecorated or value
        return made
    return made if isinstance(made, Partial | Class) else value


def class_(machine: Machine, node: ast.AST, frame: Frame) -> None:
    """Binds a class of the user's, with its members."""
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
    inner = Frame(frame.source, {}, Around(frame), node.name, owner=made)
    machine.execute(machine, node.body, inner)
    made.members = dict(inner.names)
    _registered(machine, made, node, frame)
    found: Value = made
    for decorator in reversed(node.decorator_list):
        found = _decorated(machine, decorator, found, frame)
    bind(frame, node.name, found, node)


def _registered(machine: Machine, made: Class, node: ast.ClassDef, frame: Frame) -> None:
    """Tells the bases of a class that it is made, by ``__init_subclass__``."""
    for base in made.bases:
        hook = base.find("__init_subclass__")
        if isinstance(hook, Function):
            given = {
                one.arg: Given(one.value, machine.evaluate(machine, one.value, frame))
                for one in node.keywords
                if one.arg is not None
            }
            machine.invoke(machine, hook.bound(made), Arguments((), given), node, frame)
            return


def shared(machine: Machine, node: ast.AST, frame: Frame) -> None:
    """``global`` and ``nonlocal``: the names are of variables further out."""
    assert isinstance(node, ast.Global | ast.Nonlocal)
    for name in node.names:
        outer = frame
        while isinstance(outer.around, Around):
            outer = outer.around.frame
            held = name in outer.names and not outer.is_class_body()
            if isinstance(node, ast.Nonlocal) and held:
                break
        if outer is not frame:
            frame.shared[name] = outer


def import_(machine: Machine, node: ast.AST, frame: Frame) -> None:
    """Binds what ``import`` names."""
    assert isinstance(node, ast.Import)
    for alias in node.names:
        name = alias.asname or alias.name.split(".")[0]
        wanted = alias.name if alias.asname else name
        bind(frame, name, machine.load(machine, wanted, 0, frame) or External(wanted), node)


def import_from(machine: Machine, node: ast.AST, frame: Frame) -> None:
    """Binds what ``from ... import`` names."""
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
        # What stands beside the file is no library's, whatever it is called.
        whole = f"{'.' * node.level}{node.module or ''}.{alias.name}"
        bind(frame, name, value or machine.replaced.get(whole) or External(whole), node)
