"""What met in the failure that ended this run: looked at once, for all who ask."""

from __future__ import annotations

from functools import partial

from diagnose import tracing
from diagnose.bulkhead import guarded
from diagnose.hooks.replay import Met, met

_last: list[tuple[BaseException, Met | None]] = []


def meeting(error: BaseException) -> Met | None:
    """What met, as far as a recorder saw it; None where none did.

    Args:
        error: a live failure. It is held until another one is looked at, as a run has one.
    """
    if not _last or _last[0][0] is not error:
        recorder = tracing.witness(error)
        found = guarded("meeting", partial(met, recorder, error), None) if recorder else None
        _last[:] = [(error, found)]
    return _last[0][1]
