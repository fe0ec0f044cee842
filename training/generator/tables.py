"""The data beside this package."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from diagnose._toml import loads


@cache
def read(name: str) -> dict[str, Any]:
    """A file of data, by its path below this package; whoever reads it leaves it as it is."""
    return loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
