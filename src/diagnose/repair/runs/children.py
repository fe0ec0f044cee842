"""What fails in a process that the program itself forks: it is looked at there, while it is alive.

torch hands on its text alone, in which no operand and no frame is left.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from torch.multiprocessing.spawn import ProcessRaisedException

from diagnose.bulkhead import guarded

#: The module; the package has a function of its name.
_spawn: Any = import_module("torch.multiprocessing.spawn")

_Looking = Callable[[BaseException], dict[str, Any]]


class Children:
    """The processes that a program starts by `torch.multiprocessing`.

    Args:
        folder: where the program's files are; what the processes tell is kept beside it.
        look: what is told of a failure, as JSON takes it.
    """

    def __init__(self, folder: Path, look: _Looking) -> None:
        self._told = folder.with_name(f".child-{folder.name}")
        self._look = look

    @contextmanager
    def watching(self) -> Iterator[None]:
        """A context that the program runs in."""
        plain = _spawn._wrap
        _spawn._wrap = _Wrap(partial(self._run, os.getpid()), plain)
        try:
            yield
        finally:
            _spawn._wrap = plain

    def told(self, error: BaseException) -> dict[str, Any] | None:
        """What the process told whose failure this error hands on; None where none did."""
        told: dict[str, Any] | None = None
        if isinstance(error, ProcessRaisedException):
            with suppress(OSError, ValueError):
                told = json.loads(self._of(error.error_index).read_text())
        return told

    def _run(self, parent: int, function: Callable[..., object], rank: int, *args: Any) -> None:
        try:
            function(rank, *args)
        except Exception as error:
            if os.getpid() != parent:
                told = guarded("child", partial(self._look, error), None)
                if told is not None:
                    self._of(rank).write_text(json.dumps(told, default=list))
            raise

    def _of(self, rank: int) -> Path:
        return self._told.with_name(f"{self._told.name}-{rank}")


class _Wrap:
    """What torch runs in a process that it starts. One that is not forked gets torch's own: nothing is
    simulated there."""

    def __init__(self, run: Callable[..., None], plain: Callable[..., None]) -> None:
        self._run = run
        self._plain = plain

    def __call__(
        self, function: Callable[..., object], rank: int, args: tuple[Any, ...], file: str
    ) -> None:
        self._plain(partial(self._run, function), rank, args, file)

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        return _plain, ()


def _plain() -> object:
    return _spawn._wrap
