"""Texts that are computed: of a device's name all is known, or that its number is the rank's."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from itertools import islice

from diagnose.kinds import EventKind
from diagnose.placement.devices import HOME, RANKED, is_rank
from diagnose.placement.machine import Arguments, Machine
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.tensors import Table
from diagnose.placement.values import Const, Frame, Number, Place, Unknown, Value

#: Characters of a string that is computed.
LONGEST = 1000
#: What stands for a part of which nothing is known.
_OPEN = "\0"
#: Parts of a template: a width of more than two digits is a text of any length.
_PERCENT = re.compile(r"%(?:\((\w+)\))?([-+ #0]*\d{0,2}[sdir])|%%")
_BRACES = re.compile(r"\{(\w*)\}")
#: Methods of a text that take only texts, and give none that is longer.
_METHODS = frozenset(
    {
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "startswith",
        "endswith",
        "split",
        "splitlines",
        "partition",
        "rpartition",
        "removeprefix",
        "removesuffix",
    }
)


def composed(machine: Machine, parts: Iterable[str | Value], node: ast.AST, frame: Frame) -> Value:
    """A text of texts and values; a device where it can only be one."""
    text, ranked = "", False
    every = list(parts)
    if len(every) == 1 and isinstance(every[0], Place):
        return every[0]
    for part in every:
        if isinstance(part, Const):
            part = str(part.value)
        if isinstance(part, str):
            text += part[:LONGEST]
        else:
            text += _OPEN
            ranked = ranked or (isinstance(part, Number | Unknown) and is_rank(part.word))
    if _OPEN not in text:
        found = Const(text[:LONGEST])
        found.steps = machine.step(EventKind.MADE, node, frame)
        return found
    if text.startswith(("cuda:\0", "cuda\0")):
        return Place(RANKED if ranked else HOME, machine.step(EventKind.MADE, node, frame))
    return Unknown()


def percent(machine: Machine, template: str, value: Value, node: ast.AST, frame: Frame) -> Value:
    """``"cuda:%d" % gpu``."""
    named = value.items if isinstance(value, Table) else {}
    rest = iter(value.items if isinstance(value, Items) else [value])

    def filled(found: re.Match[str]) -> str | Value:
        if found[0] == "%%":
            return "%"
        one = named.get(found[1]) if found[1] else next(rest, None)
        if isinstance(one, Const):
            try:
                return str(f"%{found[2]}" % one.value)
            except (TypeError, ValueError):
                return Unknown()
        return one or Unknown()

    return composed(machine, _pieces(_PERCENT, template, filled), node, frame)


def formatted(
    machine: Machine, template: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """``"cuda:{}".format(gpu)``."""
    if "{" in _BRACES.sub("", template):  # a width, an attribute
        return Unknown()
    rest = iter(given.listed)

    def filled(found: re.Match[str]) -> str | Value:
        name = found[1]
        one = given.get(name, int(name) if name.isdecimal() else None) if name else next(rest, None)
        return one.value if one is not None else Unknown()

    return composed(machine, _pieces(_BRACES, template, filled), node, frame)


def _pieces(
    pattern: re.Pattern[str], template: str, filled: Callable[[re.Match[str]], str | Value]
) -> Iterable[str | Value]:
    """The parts of a template: its texts, and what stands in its places."""
    end = 0
    for found in islice(pattern.finditer(template), 50):
        yield template[end : found.start()]
        yield filled(found)
        end = found.end()
    yield template[end:]


def text_method(
    machine: Machine, owner: Const, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a method of a text gives."""
    text = owner.value
    assert isinstance(text, str)
    if name == "format":
        return formatted(machine, text, given, node, frame)
    said = [one.value.value for one in given.listed if isinstance(one.value, Const)]
    words = [one for one in said if isinstance(one, str)]
    if len(words) != len(given.every()):
        return Unknown()
    if name not in _METHODS:
        return Unknown()
    try:
        found = getattr(text, name)(*words)
    except (TypeError, ValueError):
        return Unknown()
    several = isinstance(found, list | tuple)
    return Items([Const(one) for one in found[:50]]) if several else Const(found)
