"""diagnose: why a PyTorch job died of a device-placement error, what to change, how to prove it.

    >>> import diagnose
    >>> diagnose.install()  # from now on an uncaught exception is followed by its diagnosis

The names below are loaded when they are first used: ``import diagnose`` alone costs next to nothing
and imports neither torch nor Flask nor SQLAlchemy.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, whose import takes as long as all of the hook's
if TYPE_CHECKING:
    from typing import Any

    from diagnose.hooks import explain, install, uninstall
    from diagnose.hooks.notebook import why
    from diagnose.hooks.sentry import sentry_event
    from diagnose.model import Diagnosis
    from diagnose.pipeline import diagnose as diagnose_text
    from diagnose.tracing import trace
    from diagnose.tracing.guarding import guard

__version__ = "0.1.0"
__all__ = [
    "Diagnosis",
    "__version__",
    "diagnose_text",
    "explain",
    "guard",
    "install",
    "sentry_event",
    "trace",
    "uninstall",
    "why",
]

_HOMES = {
    "Diagnosis": ("diagnose.model", "Diagnosis"),
    "diagnose_text": ("diagnose.pipeline", "diagnose"),
    "explain": ("diagnose.hooks", "explain"),
    "guard": ("diagnose.tracing.guarding", "guard"),
    "install": ("diagnose.hooks", "install"),
    "sentry_event": ("diagnose.hooks.sentry", "sentry_event"),
    "trace": ("diagnose.tracing", "trace"),
    "load_ipython_extension": ("diagnose.hooks.notebook", "load"),
    "uninstall": ("diagnose.hooks", "uninstall"),
    "unload_ipython_extension": ("diagnose.hooks.notebook", "unload"),
    "why": ("diagnose.hooks.notebook", "why"),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    try:
        module, attribute = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
