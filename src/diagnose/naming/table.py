"""`Table`: what the features of something add to each of several answers, learned and kept as bytes.

A multinomial logistic regression on hashed features: each feature has a row, the row of its CRC-32, with
a weight for each answer in log-odds. The file is one line of JSON (`columns`, `rows`, `scale`) and then a
signed byte a weight, in units of ``scale``. training/ writes such tables.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Table(NamedTuple):
    """``weights`` are ``rows`` times as many signed bytes as there are ``columns``."""

    columns: tuple[str, ...]
    rows: int
    scale: float
    weights: bytes

    def scores(self, features: Iterable[str]) -> dict[str, float]:
        """What the features add to each column, in log-odds; each counts once."""
        width = len(self.columns)
        sums = [0] * width
        for at in {row(feature, self.rows) for feature in features}:
            some = self.weights[at * width : (at + 1) * width]
            if any(some):
                sums = [n + (b - 256 if b > 127 else b) for n, b in zip(sums, some, strict=True)]
        return {name: total * self.scale for name, total in zip(self.columns, sums, strict=True)}

    def shares(self, features: Iterable[str], among: Iterable[str]) -> dict[str, float]:
        """The share of each column of ``among``; they add up to 1."""
        scores = self.scores(features)
        top = max(scores[name] for name in among)
        powers = {name: math.exp(scores[name] - top) for name in among}
        total = math.fsum(powers.values())
        return {name: power / total for name, power in powers.items()}

    @classmethod
    def of(cls, columns: Sequence[str], weights: Sequence[Sequence[float]]) -> Table:
        """The table of weights in log-odds, a list a row."""
        largest = max((abs(weight) for some in weights for weight in some), default=0.0)
        scale = largest / 127 or 1.0
        whole = bytes(round(weight / scale) % 256 for some in weights for weight in some)
        return cls(tuple(columns), len(weights), scale, whole)

    @classmethod
    def read(cls, content: bytes) -> Table:
        """The table of a file's content.

        Raises:
            ValueError: it is no such table, or cut.
        """
        head, _, weights = content.partition(b"\n")
        try:
            told = json.loads(head)
            table = cls(tuple(told["columns"]), told["rows"], told["scale"], weights)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"not a table of weights: {error}") from error
        wanted = table.rows * len(table.columns)
        if len(weights) != wanted:
            raise ValueError(f"the table has {len(weights)} weights, not {wanted}")
        return table

    def packed(self) -> bytes:
        """The content of its file."""
        head = {"columns": self.columns, "rows": self.rows, "scale": self.scale}
        return json.dumps(head).encode() + b"\n" + self.weights


@cache
def shipped(name: str) -> Table:
    """A table that comes with the package, read once."""
    return Table.read(Path(__file__).with_name(f"{name}.bin").read_bytes())


def row(feature: str, rows: int) -> int:
    """The row of a feature."""
    return zlib.crc32(feature.encode("utf-8", "replace")) % rows
