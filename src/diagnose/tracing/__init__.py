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

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from diagnose.simulation import strip_simulator_frames

if TYPE_CHECKING:
    from diagnose.tracing.recorder import Recorder

__all__ = ["active", "trace"]

_ACTIVE: list[Recorder] = []


@contextmanager
def trace(*, every: int = 1) -> Iterator[Recorder]:
    """Remember where the tensors of a block are born, and what moves them.

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
        try:
            yield recorder
        except BaseException as error:
            strip_simulator_frames(error)
            raise
        finally:
            _ACTIVE.remove(recorder)


def active() -> Recorder | None:
    """The recorder that runs in this process, the innermost of several."""
    return _ACTIVE[-1] if _ACTIVE else None
