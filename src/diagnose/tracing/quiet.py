"""Notes that are no concern of the program."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any


def quiet(note: Callable[..., Any]) -> Callable[..., Any]:
    """A function that never raises; it then gives None."""

    @wraps(note)
    def noted(*args: Any) -> Any:
        with suppress(Exception):
            return note(*args)
        return None

    return noted
