"""Wrappers around functions of torch, which several recorders may put and take off in any order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

#: Makes of a function the one that stands in its place.
Wrapper = Callable[[Any], Any]
_LOCK = threading.Lock()
#: What stood in each place before, and the wrappers around it, the innermost first.
_WRAPPED: dict[tuple[Any, str], tuple[Any, list[Wrapper]]] = {}


def wrap(owner: Any, name: str, wrapper: Wrapper) -> Callable[[], None]:
    """Puts a wrapper around a function.

    Args:
        owner: the class or module that has it.
        name: its name there.
        wrapper: makes the new function of the old one.

    Returns:
        Takes the wrapper off again; those that were put meanwhile stay.
    """
    with _LOCK:
        _, wrappers = _WRAPPED.setdefault((owner, name), (vars(owner)[name], []))
        wrappers.append(wrapper)
        _renew(owner, name)
    return partial(_unwrap, owner, name, wrapper)


def _unwrap(owner: Any, name: str, wrapper: Wrapper) -> None:
    with _LOCK:
        _WRAPPED[owner, name][1].remove(wrapper)
        _renew(owner, name)


def _renew(owner: Any, name: str) -> None:
    """Puts in a place what its wrappers make of what was there."""
    original, wrappers = _WRAPPED[owner, name]
    kind = type(original) if isinstance(original, staticmethod | classmethod) else None
    made = original if kind is None else original.__func__
    for wrapper in wrappers:
        made = wraps(made)(wrapper(made))
    setattr(owner, name, original if not wrappers else made if kind is None else kind(made))
    if not wrappers:
        del _WRAPPED[owner, name]
