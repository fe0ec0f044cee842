"""A mistake in the case base's source files."""

from __future__ import annotations

import os
from pathlib import Path


class KbError(ValueError):
    """A mistake in a file of kb/: file, key, what is wrong with it and what is allowed, and its line.

    ``file`` is relative to kb/; ``line`` is None where there is none to name (a missing file).
    """

    def __init__(self, file: str, key: str, reason: str, line: int | None = None) -> None:
        at = file if line is None else f"{file}:{line}"
        super().__init__(f"{at}: {key}: {reason}")
        self.file = file
        self.key = key
        self.reason = reason
        self.line = line

    def told(self, kb: Path) -> str:
        """The sentence for people, whose file is found from where they are: ``kb/facts.toml:3: ...``."""
        return f"{os.path.normpath(kb / self.file)}{str(self).removeprefix(self.file)}"

    @property
    def order(self) -> tuple[str, int, str]:
        """By file, line and key."""
        return self.file, self.line or 0, self.key
