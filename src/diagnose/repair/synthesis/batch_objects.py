"""Edits of what a batch is that is neither tensor nor mapping: it gets the ``to`` by which it is moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch

from diagnose.fixes.codemods.positions import line_end
from diagnose.fixes.codemods.statements import indentation, statements
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.file_gate import Change, Splice, offset_of_line
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.introspection import fields, namespace
from diagnose.hooks.positions import Texts
from diagnose.placement import Source
from diagnose.placement.semantics import nodes
from diagnose.repair.synthesis.transfers import Move, own_spots


def carrying(error: BaseException) -> Iterator[Move]:
    """The edits, for each object of the program's own that a running function holds, and whose tensors are
    on the cpu. Where no library calls ``to`` they change nothing.

    Args:
        error: a live failure.
    """
    seen = set[type]()
    for frame, spot in own_spots(error, Texts()):
        for held in list(frame.f_locals.values()):
            kind = type(held)
            if kind in seen or isinstance(held, torch.nn.Module | torch.Tensor):
                continue
            seen.add(kind)
            names = _tensors(held)
            if names and not any("to" in namespace(one) for one in kind.__mro__):
                yield from _written(spot.source, kind.__name__, names)


def _tensors(held: Any) -> list[str]:
    """The attributes of an object that are tensors, if these are all on the cpu."""
    found = {name: one for name, one in fields(held) if isinstance(one, torch.Tensor)}
    return list(found) if all(one.device.type == "cpu" for one in found.values()) else []


def _written(source: Source, kind: str, names: list[str]) -> Iterator[Move]:
    """The edit of the class, whose last method is followed by another one."""
    for node in nodes(source.tree, ast.ClassDef):
        if node.name != kind:
            continue
        methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
        if not methods:
            continue
        rows = ["def to(self, device, non_blocking=False):"]
        for name in names:
            rows.append(f"    self.{name} = self.{name}.to(device, non_blocking=non_blocking)")
        rows.append("    return self")
        first = methods[0]
        with suppress(Refused):
            indent, end = indentation(source, first), line_end(source, 0)
            at = offset_of_line(source, (first.end_lineno or first.lineno) + 1)
            text = "".join([end, *(f"{indent}{row}{end}" for row in rows)])
            becomes = (first, *statements("\n".join(rows)))
            edit = file_edit(source, [Change((Splice(at, at, text),), first, becomes)])
            yield Move("other", edit, cause="input-not-moved", says="carried-along")
