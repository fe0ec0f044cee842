"""Python's own types: texts that are computed (of a device's name all is known, or that its number is the
rank's), the fields of data classes and named tuples, and what a program asks of a value's type.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from diagnose.kinds import EventKind
from diagnose.placement.devices import HOME, RANKED, is_rank
from diagnose.placement.machine import Arguments, Machine
from diagnose.placement.semantics import decorators
from diagnose.placement.tensors import Module, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Class,
    Const,
    External,
    Frame,
    Number,
    Object,
    Place,
    Unknown,
    Value,
)

#: Characters of a string that is computed.
LONGEST = 1000
#: What stands for a part of which nothing is known.
_OPEN = "\0"
#: Parts of a template: a width of more than two digits is a text of any length.
_PERCENT = re.compile(r"%(?:\((\w+)\))?([-+ #0]*\d{0,2}[sdir])|%%")
_BRACES = re.compile(r"\{(\w*)\}")
#: Methods of a text that take only texts, and give none that is longer.
_METHODS = frozenset(
    {
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "startswith",
        "endswith",
        "split",
        "splitlines",
        "partition",
        "rpartition",
        "removeprefix",
        "removesuffix",
    }
)


def composed(machine: Machine, parts: Iterable[str | Value], node: ast.AST, frame: Frame) -> Value:
    """A text of texts and values; a device where it can only be one."""
    text, ranked = "", False
    every = list(parts)
    if len(every) == 1 and isinstance(every[0], Place):
        return every[0]
    for part in every:
        if isinstance(part, Const):
            part = str(part.value)
        if isinstance(part, str):
            text += part[:LONGEST]
        else:
            text += _OPEN
            ranked = ranked or (isinstance(part, Number | Unknown) and is_rank(part.word))
    if _OPEN not in text:
        found = Const(text[:LONGEST])
        found.steps = machine.step(EventKind.MADE, node, frame)
        return found
    if text.startswith(("cuda:\0", "cuda\0")):
        return Place(RANKED if ranked else HOME, machine.step(EventKind.MADE, node, frame))
    return Unknown()


def percent(machine: Machine, template: str, value: Value, node: ast.AST, frame: Frame) -> Value:
    """``"cuda:%d" % gpu``."""
    named = value.items if isinstance(value, Table) else {}
    rest = iter(value.items if isinstance(value, Items) else [value])

    def filled(found: re.Match[str]) -> str | Value:
        if found[0] == "%%":
            return "%"
        one = named.get(found[1]) if found[1] else next(rest, None)
        if isinstance(one, Const):
            try:
                return str(f"%{found[2]}" % one.value)
            except (TypeError, ValueError):
                return Unknown()
        return one or Unknown()

    return composed(machine, _pieces(_PERCENT, template, filled), node, frame)


def formatted(
    machine: Machine, template: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """``"cuda:{}".format(gpu)``."""
    if "{" in _BRACES.sub("", template):  # a width, an attribute
        return Unknown()
    rest = iter(given.listed)

    def filled(found: re.Match[str]) -> str | Value:
        name = found[1]
        one = given.get(name, int(name) if name.isdecimal() else None) if name else next(rest, None)
        return one.value if one is not None else Unknown()

    return composed(machine, _pieces(_BRACES, template, filled), node, frame)


def _pieces(
    pattern: re.Pattern[str], template: str, filled: Callable[[re.Match[str]], str | Value]
) -> Iterable[str | Value]:
    """The parts of a template: its texts, and what stands in its places."""
    end = 0
    for found in islice(pattern.finditer(template), 50):
        yield template[end : found.start()]
        yield filled(found)
        end = found.end()
    yield template[end:]


def text_method(
    machine: Machine, owner: Const, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a method of a text gives."""
    text = owner.value
    assert isinstance(text, str)
    if name == "format":
        return formatted(machine, text, given, node, frame)
    said = [one.value.value for one in given.listed if isinstance(one.value, Const)]
    words = [one for one in said if isinstance(one, str)]
    if len(words) != len(given.every()):
        return Unknown()
    if name not in _METHODS:
        return Unknown()
    try:
        found = getattr(text, name)(*words)
    except (TypeError, ValueError):
        return Unknown()
    several = isinstance(found, list | tuple)
    return Items([Const(one) for one in found[:50]]) if several else Const(found)


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
    """What ``dataclasses.fields`` gives for an object or its class; None for other values."""
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


_ROWS = frozenset({"list", "tuple", "set", "Sequence", "Iterable", "Collection"})
_MAPS = frozenset({"dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict"})
_PLAIN = frozenset({"str", "bytes", "int", "float", "bool", "complex", "ndarray"})
#: Those of which a value is told apart where it was written out.
_KINDS = frozenset({"list", "tuple", "set"})
#: Classes of which one value is not another's.
_APART = _ROWS | _MAPS | _PLAIN | {"Tensor", "Module"}


def is_instance(value: Value, classes: Value) -> bool | None:
    """Whether a value is of one of some classes; None where that is not known."""
    every = classes.items if isinstance(classes, Items) else [classes]
    if isinstance(value, Items) and {"list", "tuple"} <= {_last(one) for one in every}:
        return True
    told = [_is(value, one) for one in every]
    if True in told:
        return True
    return None if None in told or not told else False


def _last(one: Value) -> str:
    return one.dotted.rpartition(".")[2] if isinstance(one, External) else ""


def _is(value: Value, one: Value) -> bool | None:
    if isinstance(one, Class):
        made = value.made if isinstance(value, Module | Object) else None
        if made is not None:
            return one in made.line()
        plain = isinstance(value, Tensor | Items | Table | Const | Number)
        return False if plain or (isinstance(value, Module) and _is_torchs(value)) else None
    name = _last(one)
    match value:
        case Tensor():
            return name == "Tensor" if name in _APART else None
        case Items() if value.kind and name in _KINDS:
            return value.kind == name
        case Items():
            return None if name in _ROWS else False if name in _APART else None
        case Table():
            return name in _MAPS if name in _APART else None
        case Const() | Number() if name in ("Tensor", "Module", "ndarray", *_ROWS, *_MAPS):
            return False
        case Const() if name in _PLAIN:
            return type(value.value).__name__ == name
        case Module():
            return _is_layer(value, one, name)
        case Object(made=Class() as made) if name in _APART:
            return None if any("." in base or base == name for base in made.names()) else False
    return None


def _is_torchs(module: Module) -> bool:
    return module.made is None and module.kind.isidentifier()


def _is_layer(module: Module, one: Value, name: str) -> bool | None:
    """Whether a layer of torch is of one of torch's classes; unknown for others."""
    if name in _APART:
        return name == "Module"
    dotted = one.dotted if isinstance(one, External) else ""
    if not dotted.startswith("torch.nn.") or not _is_torchs(module):
        return None
    return module.kind == name


def has_attribute(machine: Machine, value: Value, name: str) -> bool | None:
    """Whether a value has an attribute; None where that is not known."""
    torch = machine.torch
    match value:
        case Tensor():
            known = name in torch.of_tensors or name in torch.moves or name in torch.same_device
            return True if known else None
        case Module():
            known = name in torch.module_methods or name in value.children or name in value.plain
            known = known or name in value.tensors
            if value.made is not None and value.made.find(name) is not None:
                return True
            return True if known else False if value.made and _is_whole(value.made) else None
        case Items() | Table() | Const() if name in torch.moves:
            return False
        case Object(made=Class() as made):
            if name in value.attributes or made.find(name) is not None:
                return True
            return False if _is_whole(made) else None
    return None


def _is_whole(made: Class) -> bool:
    """Whether all that the objects of a class have is known: its bases are, and it finds none by name."""
    plain = {"torch.nn.Module", "object", "ABC", "abc.ABC"}
    bases = all(base in plain for one in made.line() for base in one.library)
    return bases and made.find("__getattr__") is None


def type_of(value: Value) -> Value | None:
    """What ``type(x)`` gives; None where that is not known. A list stands for a tuple, too."""
    match value:
        case Tensor():
            return External("torch.Tensor")
        case Items():
            return External("builtins.list")
        case Table():
            return External("builtins.dict")
        case Const() if value.value is not None:
            return External(f"builtins.{type(value.value).__name__}")
        case Module(made=Class() as made) | Object(made=Class() as made):
            return made
    return None


def same_type(one: Value, other: Value) -> bool | None:
    """Whether two classes are the same; None where that is not known."""
    if isinstance(one, External) and isinstance(other, External):
        names: Sequence[str] = (one.dotted, other.dotted)
        if all(name.rpartition(".")[2] in _ROWS for name in names):
            return None
        return names[0] == names[1] if all(map(_is_known, names)) else None
    return one is other if isinstance(one, Class) and isinstance(other, Class) else None


def _is_known(dotted: str) -> bool:
    return dotted.startswith("builtins.") or dotted == "torch.Tensor"
