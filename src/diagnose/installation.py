"""How diagnose is installed: its distribution's name, its extras, and another distribution in its place."""

from __future__ import annotations

import os
from pathlib import Path

#: On PyPI the name ``diagnose`` is another project's, which imports as ``diagnose`` too.
DISTRIBUTION = "torch-diagnose"
_OTHER = "diagnose-"


def needs(package: str, extra: str) -> str:
    """What to install where a package of an extra is missing: ``pydantic is missing: pip install ...``."""
    return f"{package} is missing: pip install '{DISTRIBUTION}[{extra}]'"


def overwritten(folder: Path = Path(__file__).parents[1]) -> str | None:
    """A sentence where a distribution called ``diagnose`` is installed in the same folder, whose files take
    the place of ours or ours of its; None where there is none.

    Args:
        folder: where packages lie: the parent of this one.

    Raises:
        OSError: the folder cannot be read.
    """
    with os.scandir(folder) as entries:
        found = sorted(
            entry.name
            for entry in entries
            if entry.name.startswith(_OTHER) and entry.name.endswith(".dist-info")
        )
    if not found:
        return None
    version = found[0].removeprefix(_OTHER).removesuffix(".dist-info")
    return (
        f"another project, diagnose {version}, is installed in this environment under the same import name:"
        f" pip uninstall diagnose, then install {DISTRIBUTION} again"
    )
