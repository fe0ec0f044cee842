"""What is noted of modules and of what they register: where they are built, copied, put, moved."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from diagnose.kinds import EventKind, Origin
from diagnose.tracing import given
from diagnose.tracing.lives import Event, Life, ModuleLife, Table
from diagnose.tracing.quiet import quiet
from diagnose.tracing.stacks import stack

#: The tensors of modules by module and name: where each was, and its life.
_Held = dict[tuple[int, str], tuple[Any, Life | None]]


class Registered:
    """Notes in the tables of a recorder, and tells it of a module that has moved. Its wrappers are put
    around functions of `nn.Module` and `nn.Parameter`, its hooks are given to torch."""

    def __init__(
        self,
        tensors: Table[Life],
        modules: Table[ModuleLife],
        told: Callable[[Any, Event], None],
    ) -> None:
        self._told = told
        self._tensors = tensors
        self._modules = modules
        self._thread = threading.local()

    def is_moving(self) -> bool:
        """Whether this thread is within a move of a module: the parts need no notes of their own."""
        return getattr(self._thread, "moving", False)

    @contextmanager
    def loading(self) -> Iterator[None]:
        """While a checkpoint is read: modules are then loaded, and not made."""
        before = getattr(self._thread, "restored", EventKind.MADE)
        self._thread.restored = EventKind.LOADED
        try:
            yield
        finally:
            self._thread.restored = before

    def of(self, module: Any) -> ModuleLife:
        """What is known of a module."""
        known = self._modules.get(module)
        if known is None:
            known = ModuleLife(module)
            self._modules.set(module, known)
        return known

    # --- building ---

    def building(self, original: Callable[..., None]) -> Callable[..., None]:
        """Around `nn.Module.__init__`."""

        def note(module: Any) -> None:
            if self._modules.get(module) is None:
                self._modules.set(module, ModuleLife(module, (Event(EventKind.MADE, *stack(3)),)))

        note = quiet(note)

        def __init__(module: Any, *args: Any, **kwargs: Any) -> None:
            note(module)
            original(module, *args, **kwargs)

        return __init__

    def restoring(self, original: Callable[..., None]) -> Callable[..., None]:
        """Around `nn.Module.__setstate__`: copies and unpickled modules are not built."""

        def note(module: Any) -> None:
            event = Event(getattr(self._thread, "restored", EventKind.MADE), *stack(3))
            life = ModuleLife(module, (event,))
            self._modules.set(module, life)
            for name, inner in module._modules.items():
                if inner is not None:
                    part = self.of(inner)
                    part.owner, part.name = life, name
            for name, tensor in _slots(module):
                known = self._tensors.get(tensor)
                if known is None or known.module is None or known.module.module() is not module:
                    moves = (
                        tuple(e for e in known.events if e.what == EventKind.MOVED) if known else ()
                    )
                    self._tensors.set(tensor, Life(Origin.WEIGHT, (event, *moves), life, name))

        note = quiet(note)

        def __setstate__(module: Any, *args: Any, **kwargs: Any) -> None:
            original(module, *args, **kwargs)
            note(module)

        return __setstate__

    def wrapping(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Around `nn.Parameter.__new__`: a parameter shares the life of the tensor that it is made of."""

        def note(data: Any, parameter: Any) -> None:
            known = self._tensors.get(data) if data is not None else None
            if self._tensors.get(parameter) is None:
                event = Event(EventKind.MADE, *stack(3))
                life = known if known is not None and known.events else Life(Origin.OTHER, (event,))
                self._tensors.set(parameter, life)

        note = quiet(note)

        def __new__(cls: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
            parameter = original(cls, data, *args, **kwargs)
            note(data, parameter)
            return parameter

        return __new__

    def put_module(self, owner: Any, name: str, module: Any) -> None:
        """A module is registered in another."""
        if module is None:
            return
        life, above = self.of(module), self.of(owner)
        where = above.home() if above.was_moved() else None
        life.owner, life.name = above, name
        life.add(Event(EventKind.PUT, *stack(2), where))

    def put_tensor(self, owner: Any, name: str, tensor: Any) -> None:
        """A parameter or buffer is registered in a module."""
        if not isinstance(tensor, torch.Tensor):
            return
        known = self._tensors.get(tensor)
        if known is not None and known.maker == Origin.WEIGHT and _holds(known, tensor):
            return  # tied: it keeps its first name
        before = known.events if known is not None else ()
        event = Event(EventKind.PUT, *stack(2))
        self._tensors.set(tensor, Life(Origin.WEIGHT, (*before, event), self.of(owner), name))

    # --- moving ---

    def applying(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Around `nn.Module._apply`: `.to()`, `.half()`, `.to_empty()` change by it what a module holds."""

        def before(root: Any) -> _Held:
            return {
                (id(module), name): (tensor.device, self._tensors.get(tensor))
                for module in root.modules()
                for name, tensor in _slots(module)
            }

        def after(root: Any, held: _Held) -> None:
            moved = False
            for module in root.modules():
                for name, tensor in _slots(module):
                    device, life = held.get((id(module), name), (None, None))
                    if life is not None and life.maker == Origin.WEIGHT:
                        self._tensors.set(tensor, life)  # what was replaced goes on living
                    moved = moved or (device is not None and device != tensor.device)
            if moved:
                self.moved(root, Event(EventKind.MOVED, *stack(3), given.home(root)))

        before, after = quiet(before), quiet(after)

        def _apply(module: Any, *args: Any, **kwargs: Any) -> Any:
            if self.is_moving():
                return original(module, *args, **kwargs)
            self._thread.moving = True
            seen = before(module)
            try:
                return original(module, *args, **kwargs)
            finally:
                self._thread.moving = False
                after(module, seen or {})

        return _apply

    def moved(self, root: Any, event: Event) -> None:
        """Notes what happened to a module and to all that is registered in it."""
        for module in root.modules():
            life = self.of(module)
            life.add(event)
            for name, tensor in _slots(module):
                known = self._tensors.get(tensor)
                if known is None:
                    self._tensors.set(tensor, Life(Origin.WEIGHT, (event,), life, name))
                elif known.events[-1:] != (event,):
                    self._tensors.set(tensor, known.then(event))
        self._told(root, event)


def _holds(life: Life, tensor: Any) -> bool:
    """Whether the module of a weight's life has this very tensor."""
    module: Any = life.module.module() if life.module is not None else None
    return module is not None and any(one is tensor for _, one in _slots(module))


def _slots(module: Any) -> Iterator[tuple[str, Any]]:
    """The parameters and buffers of one module, without those of its parts."""
    for slot in (module._parameters, module._buffers):
        for name, tensor in slot.items():
            if tensor is not None:
                yield name, tensor
