"""Functions, classes and imports of the user's files."""

from __future__ import annotations

import ast

from diagnose.placement.machine import Machine
from diagnose.placement.storing import bind
from diagnose.placement.values import Class, External, Frame, Function, Object, Unknown, Value


class Around(dict[str, Value]):
    """The variables around a function, as they are when it runs."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self._frame = frame

    def get(self, name: str, otherwise: Value | None = None) -> Value | None:  # type: ignore[override]
        """The variable of a name, as it is now."""
        if isinstance(self._frame.owner, Class):  # a class body is no scope of its methods
            return self._frame.around.get(name, otherwise)
        found = self._frame.get(name)
        return otherwise if found is None else found


def function(machine: Machine, node: ast.AST, frame: Frame) -> None:
    """Binds a function of the user's."""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    around = Around(frame)
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
    bind(frame, node.name, value, node)


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
    bind(frame, node.name, made, node)


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
        bind(frame, name, value or External(f"{node.module or ''}.{alias.name}"), node)
