"""Models with their arguments and inputs: listed.toml is written by hand, found.toml by find.py."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

from ..model import Field, Piece
from ..tables import read


def sources() -> dict[str, Callable[[Random], Iterator[Piece]]]:
    """By package: what gives each of its models once, and nothing where the package is missing."""
    packages: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for name in ("listed", "found"):
        for module, rows in read(f"pieces/{name}.toml").items():
            package = packages.setdefault(module.partition(".")[0], [])
            package += [(module, row) for row in rows]
    return {package: partial(_pieces, package, rows) for package, rows in packages.items()}


def _pieces(package: str, rows: list[tuple[str, dict[str, Any]]], rng: Random) -> Iterator[Piece]:
    rows = rng.sample(rows, len(rows))
    for module, row in rows:
        if not _has(module, row["name"]):
            continue
        fields = tuple(Field(*field) for field in row["fields"].items())
        call = row.get("call", f"$body({', '.join(field.name for field in fields)})")
        imports = (*row.get("imports", ()), f"from {module} import {row['name']}")
        build = row.get("build") or f"{row['name']}({row['given']})"
        defs = row.get("defs", "")
        name = row["name"]
        yield Piece(package, name.lower(), name, imports, build, fields, call, defs=defs)


def _has(module: str, name: str) -> bool:
    try:
        return hasattr(importlib.import_module(module), name)
    except Exception:
        return False
