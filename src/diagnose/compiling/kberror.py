"""A mistake in the case base's source files."""

from __future__ import annotations


class KbError(ValueError):
    """A mistake in a file of kb/: which file, which key, and what is wrong with it."""

    def __init__(self, file: str, key: str, reason: str) -> None:
        super().__init__(f"{file}: {key}: {reason}")
        self.file = file
        self.key = key
        self.reason = reason
