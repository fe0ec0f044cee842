"""The live door: an uncaught exception is followed by its diagnosis.

    >>> import diagnose
    >>> diagnose.install()

The hook comes second. What printed the traceback before prints it still, unchanged and first; the
answer follows on stderr, for device-placement failures only. Nothing that goes wrong in here
reaches the user's program: not its exception, not its exit status, not the text of its traceback.
"""

from __future__ import annotations

from diagnose.hooks.installation import install, uninstall

TYPE_CHECKING = False  # installing must cost next to nothing
if TYPE_CHECKING:
    from typing import Any

    from diagnose.hooks.live import explain

__all__ = ["explain", "install", "uninstall"]


def __getattr__(name: str) -> Any:
    if name != "explain":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from diagnose.hooks.live import explain

    return explain
