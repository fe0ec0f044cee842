"""Files of the packages that are installed here, and their versions; nothing is imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from diagnose.patterns import INSTALLED_FOLDERS, in_package
from diagnose.sources.trees import components


def places(file: str) -> Iterator[str]:
    """Where the file of an installed package, named as any machine prints it, would lie here."""
    parts = components(in_package(file) or "")
    if not parts or ".." in parts:
        return
    for folder in map(Path, sys.path):
        if folder.name in INSTALLED_FOLDERS:
            yield str(folder.joinpath(*parts))


@lru_cache(maxsize=256)
def version(package: str) -> str | None:
    """The version of the distribution that brings an import name; None where none is installed here."""
    from importlib import metadata  # takes as long to import as a file to parse

    try:
        return metadata.version(package)
    except (metadata.PackageNotFoundError, ValueError):
        brought = metadata.packages_distributions().get(package)
        return metadata.version(brought[0]) if brought else None
