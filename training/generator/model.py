"""What is made: pieces of models, whole programs, mistakes in them, and pairs that ran."""

from __future__ import annotations

from typing import NamedTuple


class Field(NamedTuple):
    """An input of a model: its name, and the expression that makes ``$n`` samples of it."""

    name: str
    make: str


class Piece(NamedTuple):
    """A backbone: how it is made and called, and that its call gives ``width`` features a sample.

    ``call`` is an expression in which ``$body`` is the backbone. A ``whole`` piece takes its batch at once
    (a graph): its fields are not cut into samples.
    """

    package: str
    family: str
    name: str
    imports: tuple[str, ...]
    build: str
    fields: tuple[Field, ...]
    call: str
    width: int = 0
    defs: str = ""
    whole: bool = False


class Host(NamedTuple):
    """A healthy program. Its text still carries the notes that say where mistakes can be made."""

    name: str
    text: str
    package: str
    family: str
    style: str
    features: tuple[str, ...]
    gpus: int
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    piece: Piece | None = None


class Mistake(NamedTuple):
    """A host with one mistake. ``lines`` are others that an engineer may as well edit.

    ``file`` is the library's that it is in, empty where it is the program's.
    """

    cause: str
    operator: str
    operand: str
    text: str
    line: int
    lines: tuple[int, ...]
    also: tuple[str, ...]
    before: str
    after: str
    file: str = ""


class Ran(NamedTuple):
    """What a run gave: its exit status, 124 where it took too long, and what it printed."""

    status: int
    out: str
    err: str
