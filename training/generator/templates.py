"""Styles and features: the data that programs are made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .tables import read

#: What a feature says of a program's preparation, and of its loop.
SECTIONS = (
    "imports",
    "defs",
    "init",
    "forward",
    "before",
    "model",
    "setup",
    "optimizer",
    "criterion",
)
LOOP = ("step", "post", "end")


class Style(NamedTuple):
    """A way to write a program: its settings (lines ``%key value``) and its template."""

    name: str
    settings: Mapping[str, str]
    template: str

    def words(self, key: str) -> tuple[str, ...]:
        """The words of a setting."""
        return tuple(self.settings.get(key, "").split())


@cache
def styles() -> tuple[Style, ...]:
    """All styles, in the order of their names."""
    return tuple(map(_style, sorted(Path(__file__).parent.glob("styles/*.txt"))))


def _style(path: Path) -> Style:
    rows = path.read_text(encoding="utf-8").split("\n")
    settings = dict(row[1:].partition(" ")[::2] for row in rows if row.startswith("%"))
    return Style(path.stem, settings, "\n".join(row for row in rows if not row.startswith("%")))


@cache
def features() -> tuple[Mapping[str, Any], ...]:
    """All features."""
    return tuple(read("features.toml")["feature"])
