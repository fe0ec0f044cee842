"""Looks at objects of unknown classes without running any of their code.

A local variable may be anything: its ``__class__`` may raise, its properties may sleep, its tensors
may be intercepted. So types are asked of ``type()``, attributes of the instance's own ``__dict__``,
items of the built-in containers, and tensors only with torch's interception switched off.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Iterator
from itertools import islice
from typing import Any

_ITEMS = 64
_KEY = 60
#: What a subclass of Tensor may do when it is asked; an interrupt is the user's.
_REFUSALS = (Exception, SystemExit)


def is_a(value: object, kind: type | tuple[type, ...]) -> bool:
    """`isinstance` by the real type."""
    return issubclass(type(value), kind)


def attributes(value: object) -> dict[str, Any]:
    """The instance's own attributes; empty where it has no ``__dict__``."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except Exception:
        return {}
    return found if type(found) is dict else {}


def items(value: object) -> Iterator[tuple[str, Any]]:
    """The first items of a list, tuple or dict, each with the subscript that names it.

    Subclasses count (``ModelOutput``, named tuples), read by the built-in's own methods, and so do
    mappings around a dict, as transformers' ``BatchEncoding`` is.
    """
    if is_a(value, UserDict):
        value = attributes(value).get("data")
    if is_a(value, dict):
        entries: Any = value
        for key, item in list(islice(dict.items(entries), _ITEMS)):
            if type(key) in (str, int):
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


def device_of(tensor: Any) -> str | None:
    """Where a tensor is, as torch prints it; None where it does not say."""
    try:
        return str(tensor.device)
    except _REFUSALS:
        return None


def shape_of(tensor: Any) -> tuple[int, ...]:
    """The sizes; empty where they are symbolic or not known yet."""
    try:
        sizes = tuple(tensor.shape)
    except _REFUSALS:
        return ()
    return sizes if all(type(size) is int for size in sizes) else ()
