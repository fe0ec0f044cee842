"""What a request is refused with."""

from __future__ import annotations


class InputError(Exception):
    """A request that cannot be answered: HTTP status, key of the sentence in texts.toml, its values."""

    def __init__(self, status: int, reason: str, /, **values: object) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.values = values


def too_large(max_bytes: int) -> InputError:
    """The refusal of a text over the limit."""
    return InputError(413, "error-too-large", limit=size(max_bytes))


def size(count: int) -> str:
    """A number of bytes for people."""
    if count < 1024:
        return f"{count} bytes"
    return f"{count / 1024:.3g} KiB" if count < 1024**2 else f"{count / 1024**2:.3g} MiB"
