"""IPython and Jupyter: the answer after a cell that failed.

IPython prints tracebacks itself and never calls `sys.excepthook` for a cell. It tells who asks when
a cell has run; that leaves its own handling, and custom exception handlers, as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

from diagnose.hooks.chained import Then

TYPE_CHECKING = False  # installing must cost next to nothing
if TYPE_CHECKING:
    from typing import Any

_EVENT = "post_run_cell"
_listening: list[tuple[Any, Callable[[Any], None]]] = []


def listen(then: Then) -> None:
    """Call ``then`` with the exception of each cell that fails from now on, if IPython runs."""
    unlisten()
    ipython = sys.modules.get("IPython")
    running = vars(ipython).get("get_ipython") if type(ipython) is ModuleType else None
    shell = running() if running is not None else None
    if shell is None:
        return

    def cell_has_run(result: Any) -> None:
        then(getattr(result, "error_in_exec", None))

    shell.events.register(_EVENT, cell_has_run)
    _listening.append((shell, cell_has_run))


def unlisten() -> None:
    """Stop listening."""
    while _listening:
        shell, callback = _listening.pop()
        if callback in shell.events.callbacks[_EVENT]:
            shell.events.unregister(_EVENT, callback)
