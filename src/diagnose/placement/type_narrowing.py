"""What a program asks of a value's type: ``isinstance``, ``hasattr``, ``type``."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.placement.machine import Machine
from diagnose.placement.tensors import Module, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Class, Const, External, Number, Object, Value

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
