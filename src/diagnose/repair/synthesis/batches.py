"""Edits of what brings a batch to its device: it goes through one more container, or the batch's own class
gets the ``to`` by which it is moved. Where nothing of that kind is handed to them they change nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import torch

from diagnose.casebase.store import load
from diagnose.fixes.codemods.flat_batches import passing_over
from diagnose.fixes.codemods.nested_batches import movers, nested
from diagnose.fixes.codemods.positions import line_end
from diagnose.fixes.codemods.statements import indentation, statements
from diagnose.fixes.file_gate import Change, Splice, offset_of_line
from diagnose.hooks.introspection import fields, namespace
from diagnose.placement import Source
from diagnose.placement.semantics import nodes
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, proposed


def nesting(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits, in the files of the running functions, of what goes through a batch and of what moves one
    tensor after the other."""
    names = load().knowledge.torch
    for source in failure.sources:
        through = [one for each in movers(source, names) for one in nested(source, each, names)]
        for changes in (*through, *([one] for one in passing_over(source, names))):
            yield from _edit("move-input", "nested", source, changes)


def carrying(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits, for each object of the program's own that a running function holds, and whose tensors are
    on the cpu."""
    seen = set[type]()
    for running in failure.running:
        for held in list(running.frame.f_locals.values()):
            kind = type(held)
            if kind in seen or isinstance(held, torch.nn.Module | torch.Tensor):
                continue
            seen.add(kind)
            names = _tensors(held)
            if names and not any("to" in namespace(one) for one in kind.__mro__):
                for node in nodes(running.source.tree, ast.ClassDef):
                    if node.name == kind.__name__:
                        carried = (running.source, _with_to, node, names)
                        yield from _edit("other", "carried-along", *carried)


def _edit(kind: str, says: str, source: Source, *change: Any) -> Iterator[Proposal]:
    yield from proposed(kind, source, *change, cause="input-not-moved", says=says)


def _tensors(held: Any) -> list[str]:
    """The attributes of an object that are tensors, if these are all on the cpu."""
    found = {name: one for name, one in fields(held) if isinstance(one, torch.Tensor)}
    return list(found) if all(one.device.type == "cpu" for one in found.values()) else []


def _with_to(source: Source, kind: ast.ClassDef, names: list[str]) -> list[Change]:
    """The change of a class whose first method is followed by another one, which moves its attributes."""
    first = next((one for one in kind.body if isinstance(one, ast.FunctionDef)), None)
    if first is None:
        return []
    rows = [
        "def to(self, device, non_blocking=False):",
        *(f"    self.{n} = self.{n}.to(device, non_blocking=non_blocking)" for n in names),
        "    return self",
    ]
    indent, end = indentation(source, first), line_end(source, 0)
    at = offset_of_line(source, (first.end_lineno or first.lineno) + 1)
    text = "".join([end, *(f"{indent}{row}{end}" for row in rows)])
    return [Change((Splice(at, at, text),), first, (first, *statements("\n".join(rows))))]
