"""Files of the packages that are installed here, and their versions; nothing is imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from diagnose.sources.trees import components

_FOLDERS = ("site-packages", "dist-packages")


def places(file: str) -> Iterator[str]:
    """Where the file of an installed package, named as any machine prints it, would lie here."""
    parts = components(file)
    at = max((n for n, part in enumerate(parts) if part in _FOLDERS), default=None)
    if at is None or at + 1 == len(parts) or ".." in parts[at:]:
        return
    for folder in map(Path, sys.path):
        if folder.name in _FOLDERS:
            yield str(folder.joinpath(*parts[at + 1 :]))


@lru_cache(maxsize=256)
def version(package: str) -> str | None:
    """The version of the distribution that brings an import name; None where none is installed here."""
    from importlib import metadata  # takes as long to import as a file to parse

    try:
        return metadata.version(package)
    except (metadata.PackageNotFoundError, ValueError):
        brought = metadata.packages_distributions().get(package)
        return metadata.version(brought[0]) if brought else None
