"""Edits of lines that read the weights of a module which something brings only where it is called: it is
called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType

import torch

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.operands import value
from diagnose.placement import Spot
from diagnose.placement.semantics import called, nodes
from diagnose.repair.synthesis.constraint import meeting
from diagnose.repair.synthesis.transfers import Move

_CAUSE = "offloaded-to-cpu"


def hooked(error: BaseException) -> Iterator[Move]:
    """The edits: ``table.weight[ids]`` becomes ``table(ids)``, which runs what accelerate's offload, or a
    hook of the program's, does before a call; in the files that run.

    Args:
        error: a live failure that a recorder saw.
    """
    found = meeting(error)
    if found is None:
        return
    seen = set[str]()
    for frame, line in reversed(found.lives.alive):
        spot = found.lives.texts.spot(line)
        # What has ended may have read them, and called its model as those do who run still.
        for node in nodes(spot.source.tree, ast.expr) if spot is not None else ():
            module, given = _read(node, frame)
            if spot is not None and module and given:
                place = f"{spot.file}:{given.lineno}:{given.col_offset}"
                if place not in seen:
                    seen.add(place)
                    yield from _called(spot, node, module, given)


def _called(spot: Spot, node: ast.expr, module: ast.expr, given: ast.expr) -> Iterator[Move]:
    with suppress(Refused):
        code = f"{text_of(spot.source, module)}({text_of(spot.source, given)})"
        edit = file_edit(spot.source, [replaced(spot.source, node, code)])
        yield Move("other", edit, cause=_CAUSE, says="call-it")


def _read(node: ast.AST, frame: FrameType) -> tuple[ast.expr | None, ast.expr | None]:
    """The module whose weights an expression computes with, as its own forward does, and what it would be
    given; nothing where no hook waits for its call."""
    match node:
        case ast.Subscript(value=ast.Attribute(value=owner, attr="weight"), slice=given):
            kind: type = torch.nn.Embedding
            if isinstance(given, ast.Slice | ast.Tuple | ast.Constant):
                return None, None
        case ast.Call(args=[given, ast.Attribute(value=owner, attr="weight")], keywords=[]) if (
            called(node) == "embedding"
        ):
            kind = torch.nn.Embedding
        case ast.Call(
            args=[
                given,
                ast.Attribute(value=owner, attr="weight"),
                ast.Attribute(value=other, attr="bias"),
            ],
            keywords=[],
        ) if called(node) == "linear" and ast.unparse(owner) == ast.unparse(other):
            kind = torch.nn.Linear
        case _:
            return None, None
    module = value(owner, frame)
    return (owner, given) if type(module) is kind and waits(module) else (None, None)


def waits(module: object) -> bool:
    """Whether a hook waits for the call of a module, to bring it or what it is given."""
    return hasattr(module, "_hf_hook") or bool(getattr(module, "_forward_pre_hooks", None))
