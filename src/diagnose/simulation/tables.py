"""The tables of kb/ that the simulated GPUs need at run time."""

from __future__ import annotations

import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def table_path(name: str) -> Path:
    """Return where a table is: in the installed package, or in the checkout's kb/.

    Raises:
        FileNotFoundError: it is in neither place.
    """
    packaged = files("diagnose") / "kb" / name
    if packaged.is_file():
        with as_file(packaged) as path:
            return path
    checkout = Path(__file__).resolve().parents[3] / "kb" / name
    if checkout.is_file():
        return checkout
    raise FileNotFoundError(
        f"kb/{name} is neither in the package (it came with the wheel) nor at {checkout}"
    )


def read_table(name: str) -> dict[str, Any]:
    """Return what a table holds."""
    with table_path(name).open("rb") as file:
        table: dict[str, Any] = tomllib.load(file)
    return table
