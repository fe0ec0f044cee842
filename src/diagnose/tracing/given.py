"""What calls of torch are given and give, read without changing any of it."""

from __future__ import annotations

import sys
from collections import UserDict
from collections.abc import Iterator
from typing import Any

import torch

_UNSHAPED: Any = vars(torch.nn.parameter)["UninitializedTensorMixin"]
_KINDS = (torch.Tensor, torch._C.Generator)
#: Of a list of tensors that a call is given so many are looked at.
_FIRST = 4
#: Of what a loader or a checkpoint gives so many things are looked at, and so deep in containers.
_MOST, _DEEPEST = 10_000, 6
#: Frames that are looked at for running objects, and so many of these.
_FRAMES, _RUNNING = 200, 12


def tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """The tensors that a call was given, of a list the first ones."""
    for one in args:
        if isinstance(one, torch.Tensor):
            yield one
        elif type(one) in (list, tuple):
            for inner in one[:_FIRST]:
                if isinstance(inner, torch.Tensor):
                    yield inner
    for one in kwargs.values():
        if isinstance(one, torch.Tensor):
            yield one


def operands(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """All tensors and generators that a call was given, with their positions and keywords."""
    for label, one in [*((str(at), one) for at, one in enumerate(args)), *kwargs.items()]:
        if isinstance(one, _KINDS):
            yield label, one
        elif isinstance(one, list | tuple):
            for at, inner in enumerate(one):
                if isinstance(inner, _KINDS):
                    yield f"{label}[{at}]", inner


def asked(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """The device that a call names, as torch prints it; ``.cuda()`` names its own."""
    for one in (*args[1:], *kwargs.values()):
        if isinstance(one, torch.device | str):
            return str(one)
    return name if name in ("cuda", "cpu") else None


def held(thing: Any) -> Iterator[Any]:
    """The tensors in built-in containers, the first ones of very many."""
    waiting: list[tuple[Any, int]] = [(thing, 0)]
    left = _MOST
    while waiting and left:
        left -= 1
        one, depth = waiting.pop()
        if isinstance(one, torch.Tensor):
            yield one
        elif depth < _DEEPEST and isinstance(one, UserDict):  # such as a tokenizer gives
            waiting.append((vars(one).get("data"), depth + 1))
        elif depth < _DEEPEST and isinstance(one, dict):
            waiting += [(inner, depth + 1) for inner in dict.values(one)]
        elif depth < _DEEPEST and type(one) in (list, tuple):
            waiting += [(inner, depth + 1) for inner in one]


def shape(thing: Any) -> tuple[int, ...] | None:
    """The sizes of a tensor; None of a generator, and of what has none yet."""
    if not isinstance(thing, torch.Tensor) or isinstance(thing, _UNSHAPED):
        return None
    return tuple(thing.shape)


def home(module: Any) -> str | None:
    """Where a module's first parameter or buffer is, as torch prints it."""
    for one in module.modules():
        for slot in (one._parameters, one._buffers):
            for tensor in slot.values():
                if tensor is not None:
                    return str(tensor.device)
    return None


def words(error: BaseException) -> tuple[Any, ...]:
    """What an exception was given, whatever its class defines."""
    found: tuple[Any, ...] = BaseException.args.__get__(error)  # type: ignore[attr-defined]
    return found


def running(kind: type) -> Iterator[Any]:
    """The objects of a class whose methods run in this thread, innermost first."""
    frame = sys._getframe(2)
    left, found = _FRAMES, 0
    while frame is not None and left and found < _RUNNING:
        owner = frame.f_locals.get("self") if "self" in frame.f_code.co_varnames else None
        if owner is not None and issubclass(type(owner), kind):
            found += 1
            yield owner
        frame = frame.f_back  # type: ignore[assignment]
        left -= 1
