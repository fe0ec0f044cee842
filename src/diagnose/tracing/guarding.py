"""A guard against copies between devices that no word of a line asks for.

In the manner of JAX's transfer guard: ``x.to(device)``, ``.cuda()``, ``.cpu()`` and ``copy_`` say what they
do and pass; an index or a value that lies on another device than the tensor it goes into is copied in
silence.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Literal

import torch
from torch.overrides import TorchFunctionMode

from diagnose.tracing import modes
from diagnose.tracing.given import operands
from diagnose.tracing.stacks import Line, stack

Action = Literal["log", "disallow"]
_LOG = logging.getLogger("diagnose.guard")
#: What brings a value or an index to the tensor it is for; what reads a value on the host.
_WRITES = frozenset({"__getitem__", "__setitem__", "index_put_", "index_put"})
_READS = frozenset({"__bool__", "__float__", "__int__", "__index__", "__complex__", "__array__"})


#: The guards that hold here. A mode holds for a thread; which of its tasks runs, only the context knows.
_HELD: ContextVar[tuple[TorchFunctionMode, ...]] = ContextVar("held", default=())


class TransferError(RuntimeError):
    """A copy between devices that a guard does not allow."""


@contextmanager
def guard(
    action: Action = "log", *, to: str | None = None, allow: Collection[str] = ()
) -> Iterator[None]:
    """Tell, or refuse, silent copies between devices in a block: in the thread or asyncio task that enters
    it, and in tasks that are made there.

    0-dim tensors on the cpu, numbers and lists pass: torch hands them to kernels as constants.

    Args:
        action: ``log`` warns once a line, by the logger ``diagnose.guard``; ``disallow`` raises before the
            copy.
        to: only copies to this device or kind of device (``cuda``, ``cuda:1``, ``cpu``). With ``cpu`` also
            values that are read where the program decides by them: ``if mask.any():``.
        allow: functions of torch that may copy, such as ``__setitem__``.

    Raises:
        TransferError: a copy that is not allowed, from within the block.
        ValueError: ``action`` is none of the two.
    """
    if action not in ("log", "disallow"):
        raise ValueError(f"action is 'log' or 'disallow', not {action!r}")
    mode = _Guard(action, to, frozenset(allow))
    modes.put(mode)
    token = _HELD.set((*_HELD.get(), mode))
    try:
        yield
    finally:
        modes.take(mode)
        with suppress(ValueError):  # left in another context than it was entered in
            _HELD.reset(token)


class _Guard(TorchFunctionMode):
    def __init__(self, action: Action, to: str | None, allow: frozenset[str]) -> None:
        super().__init__()
        self._action = action
        self._to = to
        self._watched = (_WRITES | (_READS if to == "cpu" else frozenset())) - allow
        self._told: set[Line | None] = set()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        if name in self._watched and self in _HELD.get():
            self._look(name, args, kwargs or {})
        return func(*args, **(kwargs or {}))

    def _look(self, name: str, args: Any, kwargs: Any) -> None:
        for source, target in _copies(name, args, kwargs):
            if self._to is None or self._to in (target, target.partition(":")[0]):
                self._tell(name, source, target)
                return

    def _tell(self, name: str, source: str, target: str) -> None:
        lines, _ = stack(2)
        line = lines[0] if lines else None
        where = f"{line.code.co_filename}:{line.number}" if line is not None else "a library"
        said = f"{where}: {name} copies a tensor from {source} to {target}, which the line does not say"
        if self._action == "disallow":
            raise TransferError(said)
        if line not in self._told:
            self._told.add(line)
            _LOG.warning("%s", said)


def _copies(name: str, args: Any, kwargs: Any) -> Iterator[tuple[str, str]]:
    """From where to where tensors are copied by a call."""
    tensors = [one for _, one in operands(args, kwargs) if isinstance(one, torch.Tensor)]
    if not tensors:
        return
    home = str(tensors[0].device)
    if name in _READS:
        if tensors[0].device.type not in ("cpu", "meta"):
            yield home, "cpu"
        return
    for other in tensors[1:]:
        if other.dim() and other.device.type != "meta" and str(other.device) != home:
            yield str(other.device), home
