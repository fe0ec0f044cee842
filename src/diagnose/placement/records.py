"""Records: the fields of data classes and named tuples."""

from __future__ import annotations

import ast

from diagnose.placement.machine import Arguments, Machine
from diagnose.placement.semantics import decorators
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.tensors import Table
from diagnose.placement.values import Class, Const, Frame, Object, Value

#: The kind of what ``dataclasses.field(...)`` gives.
FIELD = "field"


def fields(made: Class) -> list[str]:
    """The fields of a data class or named tuple in their order, those of its bases first."""
    return [
        each.target.id
        for one in reversed(list(made.line()))
        for each in one.node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]


def is_data_class(made: Class) -> bool:
    """Whether a class is made a data class by a decorator."""
    return any("dataclass" in decorators(one.node) for one in made.line())


def described(value: Value) -> Items | None:
    """What ``dataclasses.fields`` tells of an object or its class; None for other values."""
    made = value.made if isinstance(value, Object) else value
    if not isinstance(made, Class) or not is_data_class(made):
        return None
    found = [Object("namespace") for _ in fields(made)]
    for one, name in zip(found, fields(made), strict=True):
        one.attributes["name"] = Const(name)
    return Items([*found])


def row(value: Value) -> Items | None:
    """A named tuple as a tuple; None for other values."""
    if not isinstance(value, Object) or value.made is None:
        return None
    if not any(name.rpartition(".")[2] == "NamedTuple" for name in value.made.names()):
        return None
    names = fields(value.made)
    known = all(name in value.attributes for name in names)
    return Items([value.attributes[name] for name in names]) if known else None


def filled(
    machine: Machine, made: Class, given: Arguments, node: ast.AST, frame: Frame
) -> dict[str, Value]:
    """The attributes of a record: what it is given, then what its fields are without."""
    names = fields(made)
    held = {name: one.value for name, one in zip(names, given.listed, strict=False)}
    held |= {name: one.value for name, one in given.named.items()}
    for name in names:
        said = made.find(name)
        if name not in held and isinstance(said, Object) and said.kind == FIELD:
            if (factory := said.attributes.get("default_factory")) is not None:
                held[name] = machine.invoke(machine, factory, Arguments(), node, frame)
            elif (default := said.attributes.get("default")) is not None:
                held[name] = default
        elif name not in held and said is not None:
            held[name] = said
    return held


def field(given: Arguments) -> Object:
    """What a field is that nothing is given for."""
    found = Object(FIELD)
    found.attributes = {name: one.value for name, one in given.named.items()}
    return found


def tuple_class(name: str, said: Value | None, node: ast.AST, frame: Frame) -> Class:
    """The class that ``namedtuple(name, fields)`` makes."""
    names: list[str] = []
    if isinstance(said, Const) and isinstance(said.value, str):
        names = said.value.replace(",", " ").split()
    elif isinstance(said, Items):
        firsts = (
            one.items[0] if isinstance(one, Items) and one.items else one for one in said.items
        )
        names = [str(one.value) for one in firsts if isinstance(one, Const)]
    body: list[ast.stmt] = [
        ast.AnnAssign(ast.Name(one), ast.Name("object"), None, 1) for one in names
    ]
    made = Class(ast.copy_location(ast.ClassDef(name, [], [], body, []), node), frame.source)
    made.library.append("typing.NamedTuple")
    return made


def replaced(record: Object, given: Arguments) -> Object:
    """A copy of a record with other values in some fields."""
    found = Object(record.kind, record.made)
    named = {name: one.value for name, one in given.named.items()}
    found.attributes, found.steps = {**record.attributes, **named}, record.steps
    return found


def record_method(record: Object, name: str, given: Arguments) -> Value | None:
    """What a method that named tuples have gives; None for other names."""
    match name:
        case "_replace":
            return replaced(record, given)
        case "_asdict":
            return Table(dict(record.attributes.items()))
    return None
