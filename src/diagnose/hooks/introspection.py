"""Looks at objects of unknown classes without running any of their code.

A local variable may be anything: its ``__class__`` may raise, its properties may sleep, its tensors
may be intercepted, its metaclass may lie. So types are asked of ``type()``, what a class is and has of
``type``'s own getters, attributes of the instance's own ``__dict__``, items of the built-in containers,
and tensors by torch's own getters with its interception switched off.
"""

from __future__ import annotations

import sys
from collections import UserDict
from collections.abc import Iterator, Mapping
from itertools import islice
from types import BuiltinFunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any

from diagnose.simulation import is_active

_ITEMS = 64
_KEY = 60

_BASES = vars(type)["__mro__"].__get__
_NAMESPACE = vars(type)["__dict__"].__get__
_NAME = vars(type)["__name__"].__get__


def is_a(value: object, kind: type) -> bool:
    """`isinstance` by the real type; no class is asked for its opinion."""
    return type.__subclasscheck__(kind, type(value))


def exactly(value: object, *kinds: type) -> bool:
    """Whether an object's class is one of these; a comparison would ask its metaclass."""
    return any(type(value) is kind for kind in kinds)


def bases(kind: type) -> tuple[type, ...]:
    """A class and those that it inherits from, in the order of look-up."""
    found: tuple[type, ...] = _BASES(kind)
    return found


def namespace(kind: type) -> Mapping[str, Any]:
    """What a class itself defines."""
    found: Mapping[str, Any] = _NAMESPACE(kind)
    return found


def class_name(value: object) -> str:
    """The name of an object's class."""
    return str(_NAME(type(value)))


def attributes(value: object) -> dict[str, Any]:
    """The instance's own attributes; empty where it has no ``__dict__`` or its class hides it."""
    for kind in bases(type(value)):
        getter = namespace(kind).get("__dict__")
        if getter is not None:
            own = exactly(getter, GetSetDescriptorType, MemberDescriptorType)
            found = getter.__get__(value) if own else None
            return found if type(found) is dict else {}
    return {}


def fields(value: object) -> list[tuple[str, Any]]:
    """The instance's own attributes that have a plain string for a name."""
    return [(name, field) for name, field in list(attributes(value).items()) if type(name) is str]


def entries(value: object) -> list[tuple[str, Any]]:
    """The entries of a dict that have a plain string for a key; empty for anything else."""
    if not is_a(value, dict):
        return []
    mapping: Any = value
    return [(key, item) for key, item in list(dict.items(mapping)) if type(key) is str]


def items(value: object) -> Iterator[tuple[str, Any]]:
    """The first items of a list, tuple or dict, each with the subscript that names it.

    Subclasses count (``ModelOutput``, named tuples), read by the built-in's own methods, and so do
    mappings around a dict, as transformers' ``BatchEncoding`` is.
    """
    if is_a(value, UserDict):
        value = attributes(value).get("data")
    if is_a(value, dict):
        mapping: Any = value
        for key, item in list(islice(dict.items(mapping), _ITEMS)):
            if exactly(key, str, int):
                yield f"[{subscript(key)}]", item
    elif is_a(value, list):
        for index, item in enumerate(islice(list.__iter__(value), _ITEMS)):  # type: ignore[arg-type]
            yield f"[{index}]", item
    elif is_a(value, tuple):
        for index, item in enumerate(islice(tuple.__iter__(value), _ITEMS)):  # type: ignore[arg-type]
            yield f"[{index}]", item


def subscript(key: str | int) -> str:
    """A key as it stands in a subscript: printable, and not too long."""
    return repr(key[:_KEY] if isinstance(key, str) else key)


def label(part: str) -> str:
    """A part of a dotted name, safe to print whatever the program called it."""
    return part[:_KEY] if part.isprintable() else ascii(part[:_KEY])


def loaded_torch() -> Any:
    """torch; None where the program has not imported all of it, or has put a thing of its own there."""
    torch = sys.modules.get("torch")
    whole = type(torch) is ModuleType and type(vars(torch).get("_C")) is ModuleType
    return torch if whole else None


def device_of(tensor: Any) -> str | None:
    """Where a tensor is, as torch prints it; None where it does not say."""
    device = _asked(tensor, "device")
    return None if device is None else str(device)


def shape_of(tensor: Any) -> tuple[int, ...]:
    """The sizes; empty where they are symbolic or not known yet."""
    if is_a(tensor, sys.modules["torch"].nn.parameter.UninitializedTensorMixin):
        return ()
    sizes = tuple(_asked(tensor, "shape") or ())
    return sizes if all(type(size) is int for size in sizes) else ()


def _asked(tensor: Any, name: str) -> Any:
    """An attribute by torch's own getter, whatever a subclass defines under that name; None where the
    getter refuses or Python code would have to answer."""
    if _answers_itself(tensor):
        return None
    try:
        if name == "device" and is_active():  # simulated GPUs stand beside what C++ knows
            from diagnose.simulation.placement import device_of as simulated

            return simulated(tensor)
        for base in bases(sys.modules["torch"].Tensor):
            getter = namespace(base).get(name)
            if type(getter) is GetSetDescriptorType:  # of torch's C++, whatever the base is called
                return getter.__get__(tensor)
    except Exception:
        return None
    return None


def _answers_itself(tensor: Any) -> bool:
    """Whether torch's C++ may ask a subclass's own `__torch_dispatch__` for device and shape: there is
    no way to know whether it would. Those of torch (FakeTensor, DTensor) are no code of the program."""
    torch = sys.modules["torch"]
    if exactly(tensor, torch.Tensor, torch.nn.Parameter):
        return False
    for base in bases(type(tensor)):
        found = namespace(base).get("__torch_dispatch__")
        if found is not None:
            module = namespace(base).get("__module__")
            ours = type(module) is str and module.partition(".")[0] == "torch"
            return not ours and type(found) is not BuiltinFunctionType
    return False
