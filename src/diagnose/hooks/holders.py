"""What a failing program calls the tensors that it holds: in variables, attributes and containers, in what
optimizers and closures keep."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from diagnose.hooks.introspection import (
    attributes,
    class_name,
    entries,
    exactly,
    fields,
    is_a,
    items,
    label,
)
from diagnose.hooks.modules import dotted, joined, walk
from diagnose.tracing.lives import Life
from diagnose.tracing.recorder import Recorder
from diagnose.tracing.stacks import is_own

_SLOTS = ("_parameters", "_buffers")
#: What modules and optimizers hold otherwise than by name.
_INNER = frozenset({"_parameters", "_buffers", "_modules", "state", "param_groups", "defaults"})
#: Objects within each other that are looked into, things looked at, and how long.
_DEEPEST, _MOST, _SECONDS = 4, 20_000, 0.2


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


class Holders:
    """The names of what can be reached from the variables of frames.

    Args:
        torch: the module.
        recorder: knows what shares a life.
        own: the user's frames, innermost first: all that they reach has a name.
        others: frames of libraries, innermost first: of them only the variables.
    """

    def __init__(
        self, torch: Any, recorder: Recorder, own: Sequence[FrameType], others: Sequence[FrameType]
    ) -> None:
        self._torch = torch
        self._recorder = recorder
        self._until = time.thread_time() + _SECONDS
        self._left = _MOST
        self._seen = set[int]()
        self._by_thing: dict[int, list[Holder]] = {}
        self._by_life: dict[int, list[Holder]] = {}
        self._named: dict[int, str] = {}
        self._borrowed: dict[int, str] = {}
        self._optimizers: list[tuple[str, Any]] = []
        for frame in own:
            for name, value in list(frame.f_locals.items()):
                self._look(str(name), value, 0, kept=False)
        for frame in own[-1:]:
            for name, value in list(frame.f_globals.items()):
                if not is_a(value, ModuleType):
                    self._look(str(name), value, 1, kept=False)
        for name, optimizer in self._optimizers:
            self._look_into_state(name, optimizer)
        for frame in others:
            for name, value in list(frame.f_locals.items()):
                for path, one in (
                    (str(name), value),
                    *((f"{name}{s}", i) for s, i in items(value)),
                ):
                    if is_a(one, torch.Tensor) or is_a(one, torch._C.Generator):
                        known = self._borrowed.get(id(one), "[")
                        self._borrowed[id(one)] = path if "[" in known else known

    def name(self, thing: Any) -> str:
        """How a tensor, module or generator is reached from the innermost variable that leads to it, if one
        does."""
        if thing is None:
            return ""
        found = next((one.name for one in self._of(thing)), "")
        return found or self._named.get(id(thing), "")

    def borrowed(self, thing: Any) -> str:
        """What the innermost function of a library calls a tensor or a generator."""
        return self._borrowed.get(id(thing), "") if thing is not None else ""

    def keeper(self, thing: Any, life: Life | None) -> Holder | None:
        """The object's attribute that keeps a tensor, or the one that it was computed from."""
        found = [*self._of(thing), *self._sharing(life)]
        return next((one for one in found if one.kept), None)

    def source(self, thing: Any, life: Life | None) -> Holder | None:
        """The variable that holds what a tensor was computed from."""
        return next((one for one in self._sharing(life) if one.tensor is not thing), None)

    def outermost(self, thing: Any) -> Holder | None:
        """The variable of the outermost function that a tensor came from: what it was called there."""
        return next(iter(self._of(thing)[-1:]), None)

    def alike(self, thing: Any, life: Life | None) -> list[Any]:
        """A tensor, and what shares its life."""
        return [thing, *(one.tensor for one in self._sharing(life))]

    def _of(self, thing: Any) -> list[Holder]:
        return self._by_thing.get(id(thing), []) if thing is not None else []

    def _sharing(self, life: Life | None) -> list[Holder]:
        return self._by_life.get(id(life), []) if life is not None and life.events else []

    def _note(self, name: str, tensor: Any, *, kept: bool) -> None:
        holder = Holder(name, tensor, kept)
        self._by_thing.setdefault(id(tensor), []).append(holder)
        life = self._recorder.tensors.get(tensor)
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
            for slot in _SLOTS:
                for inner, tensor in entries(attributes(module).get(slot)):
                    if is_a(tensor, self._torch.Tensor):
                        self._note(joined(full, inner), tensor, kept=True)
            for field, item in fields(module):
                if field not in _INNER and not field.startswith("_"):
                    self._look(joined(full, field), item, depth + 1, kept=True)
                elif field.endswith("_hooks"):
                    for _, hook in islice(items(item), _DEEPEST):
                        self._look(joined(full, field), hook, depth + 1, kept=True)

    def _look_into_state(self, name: str, optimizer: Any) -> None:
        state = attributes(optimizer).get("state")
        if not is_a(state, dict):
            return
        for parameter, values in list(islice(dict.items(state), _MOST)):  # type: ignore[arg-type]
            names = [one.name for one in self._of(parameter)] or [class_name(parameter)]
            of = min(names, key=lambda name: "[" in name)  # no place in a list, if it has a name
            for subscript, item in items(values):
                if is_a(item, self._torch.Tensor):
                    self._note(f"{name}.state[{of}]{subscript}", item, kept=True)

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
