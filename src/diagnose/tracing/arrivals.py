"""What is noted of tensors that no function mode is told of: from loaders, checkpoints and memory, and of
functions of the program's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from diagnose.kinds import EventKind, Origin
from diagnose.tracing import given
from diagnose.tracing.lives import Event, Life, Table
from diagnose.tracing.quiet import quiet
from diagnose.tracing.registered import Registered
from diagnose.tracing.stacks import stack

#: Functions of torch that make tensors of memory.
ARRAYS = ("from_numpy", "frombuffer", "from_dlpack")
#: Modules whose functions copy to another device, which is a move: the mode is told of it.
_COPYING = ("torch.nn.parallel", "diagnose.simulation")


class Arrivals:
    """Notes in the tables of a recorder; its wrappers are put around functions of torch.

    Args:
        tensors: the table of lives.
        registered: told of modules that are loaded.
        made: told of what a call computed: its name, arguments, keywords and a result.
    """

    def __init__(
        self,
        tensors: Table[Life],
        registered: Registered,
        made: Callable[[str, tuple[Any, ...], dict[str, Any], Any], None],
    ) -> None:
        self._tensors = tensors
        self._registered = registered
        self._made = made

    def yielding(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Around the iterators of `DataLoader`."""

        def note(item: Any) -> None:
            event = Event(EventKind.MADE, *stack(3))
            for tensor in given.held(item):
                known = self._tensors.get(tensor)
                before = known.events if known is not None else ()
                self._tensors.set(tensor, Life(Origin.BATCH, (*before, event)))

        note = quiet(note)

        def __next__(loader: Any) -> Any:
            item = original(loader)
            note(item)
            return item

        return __next__

    def loading(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Around `torch.load`."""

        def note(loaded: Any) -> None:
            event = Event(EventKind.LOADED, *stack(3))
            if isinstance(loaded, torch.nn.Module):  # pickled whole: nothing of it was registered
                self._registered.moved(loaded, event)
            for tensor in given.held(loaded):
                self._tensors.set(tensor, Life(Origin.LOAD, (event,)))

        note = quiet(note)

        def load(*args: Any, **kwargs: Any) -> Any:
            with self._registered.loading():
                loaded = original(*args, **kwargs)
            note(loaded)
            return loaded

        return load

    def taking(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Around what makes tensors of memory."""
        note = quiet(
            lambda made: self._tensors.set(
                made, Life(Origin.ARRAY, (Event(EventKind.MADE, *stack(3)),))
            )
        )

        def take(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            note(made)
            return made

        return take

    def computing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Around `autograd.Function.apply`, of which torch tells no mode; to copy to another device is no
        computing."""

        def note(function: Any, args: tuple[Any, ...], result: Any) -> None:
            if not function.__module__.startswith(_COPYING):
                for one in result if isinstance(result, tuple) else (result,):
                    if isinstance(one, torch.Tensor):
                        self._made("apply", args, {}, one)

        note = quiet(note)

        def apply(function: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(function, *args, **kwargs)
            note(function, args, result)
            return result

        return apply
