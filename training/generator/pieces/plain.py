"""Models written in plain torch: those of plain.toml."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random

from ..drawing import drawn
from ..model import Field, Piece
from ..tables import read


def pieces(rng: Random) -> Iterator[Piece]:
    """Models of the list, with other sizes each time; without end."""
    listed = list(read("pieces/plain.toml")["piece"])
    for number in count():
        if number % len(listed) == 0:
            rng.shuffle(listed)
        one = listed[number % len(listed)]
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
