"""Looks through installed packages for models that a tiny configuration makes, and writes those that run.

    python training/generator/find.py [PACKAGE ...]        # prints rows for pieces/found.toml

Of each class of modules in the places that pieces/finding.toml names, what its parameters are called tells
what they are given, and the inputs of its list are tried until one gives features. A PACKAGE that
has no place there is looked through from its root; one that is not installed is passed over.
pieces/listed.py reads the rows, as it does those that are written by hand.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import keyword
import os
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, NamedTuple

# The folder of this file would hide modules of the same names from the packages.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parents[1]))

import torch

from generator.model import Field, Piece
from generator.probing import LARGEST, at_most, fed, quiet
from generator.tables import read

#: Seconds to import a module, and to make and call one model in all ways.
_SECONDS, _SECONDS_OF_MODELS = 60, 10
#: Names that the programs need for other things.
_TAKEN = frozenset(
    [
        "args",
        "batch",
        "cfg",
        "criterion",
        "dataset",
        "dev",
        "device",
        "epoch",
        "extra",
        "first",
        "h",
        "labels",
        "loader",
        "loss",
        "losses",
        "model",
        "net",
        "out",
        "second",
        "self",
        "step",
        "target",
        "targets",
        "total",
        "y",
    ]
)


class Found(NamedTuple):
    """A model that runs: where it is imported from, how it is made and called."""

    module: str
    name: str
    given: str
    fields: tuple[Field, ...]

    def row(self) -> str:
        """As a line of a list in TOML."""
        fields = ", ".join(f"{one.name} = {json.dumps(one.make)}" for one in self.fields)
        made = f"name = {json.dumps(self.name)}, given = {json.dumps(self.given)}"
        return f"    {{ {made}, fields = {{ {fields} }} }},"


def main(argv: list[str]) -> int:
    """Print the rows of the packages, a list a module."""
    os.environ.update({"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"})
    torch.set_num_threads(1)
    known = read("pieces/finding.toml")
    for place in _places(argv, known["packages"]["at"]):
        by_module: dict[str, list[Found]] = {}
        for one in _in_place(place, known):
            by_module.setdefault(one.module, []).append(one)
        for module, found in sorted(by_module.items()):
            print(f'"{module}" = [', *(one.row() for one in found), "]", sep="\n", flush=True)
        print(place, sum(map(len, by_module.values())), file=sys.stderr, flush=True)
    return 0


def _places(packages: list[str], known: list[str]) -> list[str]:
    """The places known of these packages, or the package where none is; all places for no package."""
    if not packages:
        return known
    return [
        place
        for package in packages
        for place in ([one for one in known if one.partition(".")[0] == package] or [package])
    ]


def _in_place(place: str, known: dict[str, Any]) -> Iterator[Found]:
    """The models of a place, so many at most: those that it shows at once, then those of its modules."""
    packages = known["packages"]
    classes = [
        one
        for one in _classes(place, packages["without"])
        if not re.fullmatch(packages["parts"], one[1].__name__)
    ]
    Random(place).shuffle(classes)
    classes.sort(key=lambda one: one[0] != place)
    used = set[str]()
    for module, made in classes[: packages["tried"]]:
        if len(used) < packages["most"] and made.__name__ not in used:
            found = _made(module, made, known)
            if found is not None:
                used.add(made.__name__)
                yield found


def _classes(place: str, without: str) -> Iterator[tuple[str, type[torch.nn.Module]]]:
    """The classes of modules that a place defines, each with the shortest path that it is imported by."""
    seen = set[type]()
    for module in _modules(place, without):
        for name, value in vars(module).items():
            if not (inspect.isclass(value) and issubclass(value, torch.nn.Module)):
                continue
            own = value.__module__.partition(".")[0] == place.partition(".")[0]
            if own and not name.startswith("_") and name == value.__name__ and value not in seen:
                seen.add(value)
                yield module.__name__, value


def _modules(place: str, without: str) -> Iterator[ModuleType]:
    """A place and what is below it, those with short names first."""
    root = _imported(place)
    if root is None:
        return
    yield root
    names = [
        one.name
        for one in pkgutil.walk_packages(getattr(root, "__path__", []), f"{place}.", lambda _: None)
        if not re.search(without, one.name[len(place) :])
    ]
    for name in sorted(names, key=lambda one: (one.count("."), one))[:120]:
        module = _imported(name)
        if module is not None:
            yield module


def _imported(name: str) -> ModuleType | None:
    try:
        with quiet(), at_most(_SECONDS):
            return importlib.import_module(name)
    except BaseException as error:  # a module may well exit
        if isinstance(error, KeyboardInterrupt):
            raise
        if name.count(".") < 2:
            print(f"{name}: {type(error).__name__}: {error}"[:160], file=sys.stderr)
        return None


def _made(module: str, made: type[torch.nn.Module], known: dict[str, Any]) -> Found | None:
    """A class with arguments and inputs that run, None where none do."""
    called = [
        one.name
        for one in list(inspect.signature(made.forward).parameters.values())[1:]
        if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD
    ]
    listed = [makes for makes in known["called"]["with"] if len(makes) == len(called)]
    for given in arguments(made, known["given"]["patterns"]) if listed else ():
        names = {"torch": torch, made.__name__: made}
        with contextlib.suppress(Exception), quiet(), at_most(_SECONDS_OF_MODELS), torch.no_grad():
            body = eval(f"{made.__name__}({given})", names)
            weight = sum(one.numel() for one in body.parameters() if one.requires_grad)
            if not 0 < weight <= LARGEST:
                continue
            for makes in listed:
                fields = tuple(map(Field, _names(called), makes))
                call = f"$body({', '.join(one.name for one in fields)})"
                piece = Piece(module, made.__name__, made.__name__, (), "", fields, call)
                with contextlib.suppress(Exception):
                    if fed(piece, {**names, "body": body}) is not None:
                        return Found(module, made.__name__, given, fields)
    return None


def arguments(made: type, patterns: list[list[str]]) -> Iterator[str]:
    """What a class may be given: all that a pattern knows or what it needs only, each column of values."""
    parameters = [
        one
        for one in list(inspect.signature(made.__init__).parameters.values())[1:]
        if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    offered = set[str]()
    for needed_only in (False, True):
        for column in (1, 2):
            given: list[str] = []
            for one in parameters:
                needed = one.default is one.empty
                value = told(patterns, one.name, column)
                if value is None and needed:
                    return
                fits = isinstance(one.default, int | float) and not isinstance(one.default, bool)
                if needed or (value is not None and fits and not needed_only):
                    given.append(f"{one.name}={value}")
            text = ", ".join(given)
            if text not in offered:
                offered.add(text)
                yield text


def told(patterns: list[list[str]], name: str, column: int = 1) -> str | None:
    """What a parameter of a name is given; None where no pattern knows it."""
    return next((row[column] for row in patterns if re.fullmatch(row[0], name)), None)


def _names(called: list[str]) -> list[str]:
    """Names of inputs, as the call has them where they are free."""
    return [
        f"{name}_in" if name in _TAKEN or keyword.iskeyword(name) or name[0] == "_" else name
        for name in called
    ]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
