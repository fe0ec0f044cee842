"""Models written in plain torch: those of plain.toml, and torch's own layers as they are listed there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random

from diagnose._toml import loads

from ..drawing import drawn
from ..model import Field, Piece


def pieces(rng: Random) -> Iterator[Piece]:
    """Models of the list, with other sizes each time; without end."""
    listed = loads(Path(__file__).with_name("plain.toml").read_text(encoding="utf-8"))["piece"]
    for number in count():
        one = listed[number % len(listed)]
        if number % len(listed) == 0:
            rng.shuffle(listed)
            one = listed[0]
        names: dict[str, str] = {}
        defs, build, call = (
            drawn(one.get(key, ""), names, rng) for key in ("defs", "build", "call")
        )
        fields = tuple(Field(name, drawn(make, names, rng)) for name, make in one["fields"].items())
        passed = ", ".join(field.name for field in fields)
        yield Piece(
            "torch",
            one["name"],
            one["name"],
            tuple(one.get("imports", ())),
            build,
            fields,
            call or f"$body({passed})",
            defs=defs,
        )
