"""Each call of a model made twice: what it leaves behind, and what it copies each time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch

from diagnose.kinds import Origin
from diagnose.repair.observers.callers import Callers
from diagnose.repair.synthesis.candidates import is_placement
from diagnose.tracing import given
from diagnose.tracing.lives import Event, Life, Table
from diagnose.tracing.stacks import Line


class Again:
    """Each call that the program makes of a model is made a second time, as with another batch: whatever
    it leaves behind then meets what is new. Ranks, which wait for each other's calls, make each once.

    ``failing`` are the models whose second call fails of placement, unless the program itself calls them
    once more, and that passes: it may put back what a call leaves behind. ``repeated`` are the lines in
    which both calls copied one tensor that neither was given, or what was computed of one that a module
    keeps unregistered: it is copied each time.
    ``handed`` are the lines that copied a part of what the outermost call was given, with the names of
    their functions; ``callers`` knows who made such calls.
    """

    def __init__(self, *, repeats: bool = True) -> None:
        self._repeats = repeats
        self._busy = threading.local()
        self._failed: dict[int, Any] = {}
        self._passed: set[int] = set()
        self.repeated: set[str] = set()
        self.handed: dict[str, str] = {}
        self.callers = Callers()

    @property
    def failing(self) -> list[str]:
        """The classes of the models whose second call fails."""
        return sorted({type(one).__name__ for one in self._failed.values()})

    def copied(self, tensor: Any, line: Line, life: Life | None, lives: Table[Life]) -> None:
        """Is told of a tensor that is copied elsewhere, of the line, and of what is known of tensors."""
        known: dict[int, tuple[str, Any]] | None = getattr(self._busy, "known", None)
        if known is None:
            return
        place = f"{line.code.co_filename}:{line.number}"
        given = self._busy.tensors
        if id(tensor) in self._busy.given:
            self.handed[place] = f"{line.code.co_name}:{line.code.co_firstlineno}"
            self.callers.brought(self._busy.module, self._busy.caller, place)
        memory = _memory(tensor)
        if self._busy.second and known.get(memory, ("", None))[0] == place:
            self.repeated.add(place)
        elif not self._busy.second and memory not in self._busy.memory:
            known[memory] = (place, tensor)  # it is kept alive: no other one gets its memory
        came = life.events[0] if life is not None and life.events else None
        if (
            came is None
            or life is None
            or life.maker == Origin.WEIGHT
            or tensor.device.type != "cpu"
        ):
            return
        if self._busy.second and self._busy.made.get(id(came), ("", None))[0] == place:
            if any(_came(one, lives) is came for one in _plain(self._busy.module, tensor.numel())):
                self.repeated.add(place)
        elif not self._busy.second and all(_came(one, lives) is not came for one in given):
            self._busy.made[id(came)] = (place, came)

    @contextmanager
    def calling(self) -> Iterator[None]:
        """A context that the program runs in."""
        original: Any = torch.nn.Module.__call__
        busy = self._busy

        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(busy, "known", None) is not None or torch.distributed.is_initialized():
                return original(module, *args, **kwargs)
            busy.known, busy.made, busy.second, busy.module = {}, {}, False, module
            busy.tensors = given = list(_within((args, kwargs)))
            busy.given, busy.memory = {id(one) for one in given}, {_memory(one) for one in given}
            busy.caller = sys._getframe(1)
            self.callers.called(module, busy.caller, given)
            try:
                result = original(module, *args, **kwargs)
                if self._failed.pop(id(module), None) is not None:
                    self._passed.add(id(module))
                if self._repeats and id(module) not in self._passed:
                    busy.second = True
                    self._repeat(original, module, args, kwargs)
                return result
            finally:
                busy.known = busy.tensors = busy.caller = None

        torch.nn.Module.__call__ = call  # type: ignore[method-assign]
        try:
            yield
        finally:
            torch.nn.Module.__call__ = original  # type: ignore[method-assign]

    def _repeat(self, original: Any, module: Any, args: Any, kwargs: Any) -> None:
        # A model may put its results into the dict that it was given: the program's own stays as it is.
        given = [dict(one) if type(one) is dict else one for one in args]
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            try:
                original(module, *given, **kwargs)
            except Exception as error:
                if is_placement(error):
                    self._failed[id(module)] = module


def of_a_call(life: Life) -> bool:
    """Whether a tensor was made in a call of a model."""
    return any(line.code.co_name == "forward" for one in life.events[:1] for line in one.stack)


def _memory(tensor: Any) -> int:
    """What tells a tensor; of one on the cpu its memory, which its views share: a part of a table is
    carried to a GPU as the table is. Parts of a split model may go from one GPU to the other."""
    if tensor.device.type == "cpu":
        with suppress(Exception):  # without memory, or a subclass of its own mind
            return int(tensor.untyped_storage().data_ptr()) or id(tensor)
    return id(tensor)


def _came(tensor: Any, lives: Table[Life]) -> Event | None:
    """What first happened to a tensor, as far as it is known."""
    life = lives.get(tensor)
    return life.events[0] if life is not None and life.events else None


def _plain(module: Any, most: int) -> Iterator[Any]:
    """The tensors of so many numbers at most that a module and its parts keep unregistered, themselves or
    in objects that are no modules."""
    for part in module.modules():
        for one in vars(part).values():
            plain = not isinstance(one, torch.Tensor | torch.nn.Module) and hasattr(one, "__dict__")
            for each in vars(one).values() if plain and not isinstance(one, type) else (one,):
                if isinstance(each, torch.Tensor) and each.numel() <= most:
                    yield each


def _within(thing: Any, depth: int = 4) -> Iterator[Any]:
    """The tensors in what a call was given, those of a batch's own class too."""
    yield from given.held(thing)
    parts = thing.values() if isinstance(thing, dict) else thing
    for one in parts if depth and isinstance(thing, dict | list | tuple) else ():
        kept = isinstance(one, torch.Tensor | torch.nn.Module) or not hasattr(one, "__dict__")
        yield from _within(one if kept else vars(one), depth - 1)
