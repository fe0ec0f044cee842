"""Models of packages that do not list what a small one of theirs needs: those of listed.toml."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from diagnose._toml import loads

from ..model import Field, Piece


def of(module: str) -> Callable[[Random], Iterator[Piece]]:
    """What gives each model of a section once."""

    def pieces(rng: Random) -> Iterator[Piece]:
        try:
            package = importlib.import_module(module)
        except ImportError:
            return
        listed = loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[module]
        rng.shuffle(listed)
        for one in listed:
            name = one["name"]
            if hasattr(package, name):
                fields = tuple(Field(*field) for field in one["fields"].items())
                call = one.get("call", f"$body({', '.join(field.name for field in fields)})")
                stem = module.partition(".")[0]
                build = f"{name}({one['given']})"
                imports = (f"from {module} import {name}",)
                yield Piece(stem, name.lower(), name, imports, build, fields, call)

    return pieces
