"""Installs the hook while an interpreter starts; on PYTHONPATH of what `diagnose run` starts.

Python imports one module of this name. It steps aside for the one that would have been found
without it, and leaves no trace on `sys.path`. Nothing here may fail: the program has not begun.
"""

import os
import sys


def _step_aside() -> None:
    here = __file__.rpartition(os.sep)[0]
    sys.path[:] = [path for path in sys.path if path != here]
    this = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if this is not None:
            sys.modules["sitecustomize"] = this


def _install() -> None:
    try:
        import diagnose

        diagnose.install()
        if os.environ.get("DIAGNOSE_TRACE") == "1" and os.environ.get("DIAGNOSE_HOOK") != "0":
            from diagnose import tracing

            tracing.start()
    except Exception:  # another Python, perhaps, that has no diagnose
        return


try:
    _step_aside()
finally:
    _install()  # last: what another sitecustomize put in place is wrapped too
