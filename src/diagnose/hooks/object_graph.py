"""What a failing program's variables lead to: which object holds which, by which name, and what its modules
keep, registered or not."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from diagnose.hooks.introspection import (
    class_name,
    exactly,
    fields,
    is_a,
    items,
    label,
)
from diagnose.hooks.modules import (
    REGISTERED,
    dotted,
    joined,
    registered,
    states,
    unregistered,
    walk,
)
from diagnose.tracing.lives import Life, Table
from diagnose.tracing.stacks import is_own

#: What modules and optimizers hold otherwise than by name.
_INNER = frozenset({*REGISTERED, "state", "param_groups", "defaults"})
#: Objects within each other that are looked into, things looked at, and how long.
_DEEPEST, _MOST, _SECONDS = 4, 20_000, 0.3


class Holder(NamedTuple):
    """Who holds a tensor: how the program writes that, and whether an object keeps it longer than a
    variable does."""

    name: str
    tensor: Any
    kept: bool

    def attribute(self) -> str:
        """The attribute that keeps it, or a container of it; empty where none does."""
        _, dot, last = re.sub(r"(\[[^]]*\])+$", "", self.name).rpartition(".")
        return last if dot else ""


class Kept(NamedTuple):
    """Where a module keeps something: the module, its attribute, and ``at`` which place of a list or dict
    that is (``[0]``), empty where the attribute itself is it."""

    owner: Any
    name: str
    at: str = ""


class ObjectGraph:
    """What can be reached from the variables of frames; a tensor also by its life, which what is computed
    from it shares.

    Args:
        torch: the module.
        lives: tells what shares a life.
        own: the user's frames, innermost first: all that they reach has a name.
        others: frames of libraries, innermost first: of them only the variables.
        running: modules that were running, which no frame may have.
    """

    def __init__(
        self,
        torch: Any,
        lives: Table[Life],
        own: Sequence[FrameType],
        others: Sequence[FrameType],
        running: Iterable[Any],
    ) -> None:
        self._torch = torch
        self._lives = lives
        self._until = time.thread_time() + _SECONDS
        self._left = _MOST
        self._seen = set[int]()
        self._by_thing: dict[int, list[Holder]] = {}
        self._by_life: dict[int, list[Holder]] = {}
        self._named: dict[int, str] = {}
        self._borrowed: dict[int, str] = {}
        self._registered: dict[int, Kept] = {}
        self._unregistered: dict[int, Kept] = {}
        self._optimizers: list[tuple[str, Any]] = []
        for frame in own:
            for name, value in list(frame.f_locals.items()):
                self._look(str(name), value, 0, kept=False)
        for module in running:
            self._look("self", module, 0, kept=False)
        for frame in own[-1:]:
            for name, value in list(frame.f_globals.items()):
                if not is_a(value, ModuleType):
                    self._look(str(name), value, 1, kept=False)
        for name, optimizer in self._optimizers:
            self._look_into_state(name, optimizer)
        for frame in others:
            for name, value in list(frame.f_locals.items()):
                for at, one in (("", value), *items(value)):
                    if is_a(one, torch.Tensor) or is_a(one, torch._C.Generator):
                        known = self._borrowed.get(id(one), "[")
                        self._borrowed[id(one)] = f"{name}{at}" if "[" in known else known

    def name(self, thing: Any) -> str:
        """How a tensor, module or generator is reached from the innermost variable that leads to it, if one
        does."""
        found = next((one.name for one in self._of(thing)), "")
        return found or self._named.get(id(thing), "") if thing is not None else ""

    def borrowed(self, thing: Any) -> str:
        """What the innermost function of a library calls a tensor or a generator."""
        return self._borrowed.get(id(thing), "") if thing is not None else ""

    def keeper(self, thing: Any, life: Life | None) -> Holder | None:
        """The object's attribute that keeps a tensor, or the one that it was computed from."""
        return next((one for one in (*self._of(thing), *self._sharing(life)) if one.kept), None)

    def source(self, thing: Any, life: Life | None) -> Holder | None:
        """The variable that holds what a tensor was computed from."""
        return next((one for one in self._sharing(life) if one.tensor is not thing), None)

    def outermost(self, thing: Any) -> Holder | None:
        """The variable of the outermost function that a tensor came from: what it was called there."""
        return next(iter(self._of(thing)[-1:]), None)

    def alike(self, thing: Any, life: Life | None) -> list[Any]:
        """A tensor, and what shares its life."""
        return [thing, *(one.tensor for one in self._sharing(life))]

    def registered(self, thing: Any) -> Kept | None:
        """Where a tensor is registered now, whoever put it there."""
        return self._registered.get(id(thing)) if thing is not None else None

    def unregistered(self, thing: Any, life: Life | None = None) -> Kept | None:
        """Where a module keeps a tensor or a module without registering it, or the tensor that it was
        computed from."""
        found = self._unregistered.get(id(thing)) if thing is not None else None
        return found or (self._unregistered.get(id(life)) if life is not None else None)

    def _of(self, thing: Any) -> list[Holder]:
        return self._by_thing.get(id(thing), []) if thing is not None else []

    def _sharing(self, life: Life | None) -> list[Holder]:
        return self._by_life.get(id(life), []) if life is not None and life.events else []

    def _note(self, name: str, tensor: Any, *, kept: bool) -> None:
        holder = Holder(name, tensor, kept)
        self._by_thing.setdefault(id(tensor), []).append(holder)
        life = self._lives.get(tensor)
        if life is not None:
            self._by_life.setdefault(id(life), []).append(holder)

    def _look(self, name: str, thing: Any, depth: int, *, kept: bool) -> None:
        """Notes a thing under a name, and what it holds."""
        if is_a(thing, self._torch.Tensor):
            self._note(name, thing, kept=kept)
            return
        if is_a(thing, self._torch._C.Generator):
            self._named.setdefault(id(thing), name)
            return
        if depth > _DEEPEST or self._is_over():
            return
        if is_a(thing, self._torch.nn.Module):
            self._look_into_module(name, thing, depth)
            return
        if id(thing) in self._seen:
            return
        if exactly(thing, int, float, str, bytes, bool, type(None)) or is_a(thing, type):
            return
        self._seen.add(id(thing))
        for subscript, item in items(thing):
            self._look(name + subscript, item, depth + 1, kept=True)
        if is_a(thing, self._torch.optim.Optimizer):
            self._optimizers.append((name, thing))
        for cell, item in _closed(thing):
            self._look(cell, item, depth + 1, kept=True)
        if not is_a(thing, ModuleType):
            for field, item in fields(thing):
                if field not in _INNER:
                    self._look(f"{name}.{label(field)}", item, depth + 1, kept=True)

    def _look_into_module(self, name: str, root: Any, depth: int) -> None:
        for path, module in walk(root):
            full = dotted(name, path)
            if full != "self":
                self._named.setdefault(id(module), full)
            if id(module) in self._seen or self._is_over():
                continue
            self._seen.add(id(module))
            for inner, _, tensor in registered(module):
                self._registered.setdefault(id(tensor), Kept(module, inner))
                self._note(joined(full, inner), tensor, kept=True)
            for field, at, one in unregistered(module):
                for key in (one, self._lives.get(one)):
                    if key is not None:
                        self._unregistered.setdefault(id(key), Kept(module, field, at))
                if is_a(one, self._torch.nn.Module):
                    self._look_into_module(joined(full, field) + at, one, depth + 1)
            for field, item in fields(module):
                if field not in _INNER and not field.startswith("_"):
                    self._look(joined(full, field), item, depth + 1, kept=True)
                elif field.endswith("_hooks"):
                    for _, hook in islice(items(item), _DEEPEST):
                        self._look(joined(full, field), hook, depth + 1, kept=True)

    def _look_into_state(self, name: str, optimizer: Any) -> None:
        for parameter, at, tensor in islice(states(optimizer), _MOST):
            names = [one.name for one in self._of(parameter)] or [class_name(parameter)]
            of = min(names, key=lambda name: "[" in name)  # no place in a list, if it has a name
            self._note(f"{name}.state[{of}]{at}", tensor, kept=True)

    def _is_over(self) -> bool:
        self._left -= 1
        return self._left < 0 or time.thread_time() > self._until


def _closed(thing: Any) -> Iterator[tuple[str, Any]]:
    """The variables that a function of the user's holds on to."""
    if exactly(thing, MethodType):
        yield "self", thing.__self__
    elif exactly(thing, FunctionType) and is_own(thing.__code__):
        for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=False):
            try:
                yield name, cell.cell_contents
            except ValueError:  # not assigned yet
                continue
