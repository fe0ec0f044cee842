"""Where live tensors were born and what moved them: a recorder that runs beside the program.

    with diagnose.trace():
        train()

How it works. A torch function mode sees every call of torch that makes a tensor; torch's registration
hooks see what modules register; a few functions through which all tensors of a kind pass are wrapped
(`Module._apply`, `torch.load`, the iterators of DataLoader). What is noted of a tensor stands in a weak
side table (`lives`), never on the tensor: code objects and positions, no text and no frames. Text is made
where an error happens, by whoever asks (`diagnose.hooks`).

The package imports torch only when it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

from diagnose.simulation import strip_simulator_frames

if TYPE_CHECKING:
    from diagnose.tracing.recorder import Recorder

__all__ = ["active", "start", "trace", "witness"]

#: All that run, the newest last, and which of them this task or thread entered.
_ACTIVE: list[Recorder] = []
_ENTERED: ContextVar[Recorder | None] = ContextVar("entered", default=None)
#: The one that an exception left last: it is asked when the exception is explained.
_LEFT: list[Recorder] = []


@contextmanager
def trace(*, every: int = 1) -> Iterator[Recorder]:
    """Remember where the tensors of a block are born, and what moves them; also those of other tasks of its
    thread, and of threads that are started meanwhile, for a tensor of one may fail in another.

    Args:
        every: record the calls of one optimizer step in so many; 1 records all. What modules, loaders and
            checkpoints do is always recorded.

    Raises:
        ImportError: torch is not installed.
        ValueError: ``every`` is less than 1.
    """
    if every < 1:
        raise ValueError(f"every {every} steps cannot be recorded: 1 is all of them")
    from diagnose.tracing.recorder import Recorder

    recorder = Recorder(every)
    with recorder:
        _ACTIVE.append(recorder)
        token = _ENTERED.set(recorder)
        try:
            yield recorder
        except BaseException as error:
            strip_simulator_frames(error)
            _LEFT[:] = [recorder]
            raise
        finally:
            _ACTIVE.remove(recorder)
            with suppress(ValueError):  # left in another context than it was entered in
                _ENTERED.reset(token)


def start() -> None:
    """Record from now on until the process ends; at once where torch is loaded, else when it is.

    A launcher that knows nothing of torch can so be told to record what it starts.
    """
    if "torch" in sys.modules:
        _begin()
    else:
        from diagnose.tracing.importing import AfterTorch

        sys.meta_path.insert(0, AfterTorch(_begin))


def _begin() -> None:
    from diagnose.tracing.recorder import Recorder

    if not _ACTIVE:
        _ACTIVE.append(Recorder().__enter__())


def active() -> Recorder | None:
    """The recorder that runs in this process; of several the one that this task or thread entered, else
    the newest."""
    entered = _ENTERED.get()
    return entered if entered in _ACTIVE else _ACTIVE[-1] if _ACTIVE else None


def witness(error: BaseException) -> Recorder | None:
    """The recorder that saw an exception: the one that runs, else one that this exception left."""
    left = _LEFT[-1] if _LEFT else None
    if left is not None and left.failed is not None and left.failed.is_of(error):
        return left
    return active()
