"""Edits of where a process takes the number of its GPU from, where that is its rank among all machines: the
rank on its own that the program keeps, or the launcher's variable."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import FrameType
from typing import Any

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.codemods.positions import span, text_of
from diagnose.fixes.codemods.ranks import of_environment
from diagnose.fixes.codemods.statements import statements
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.file_gate import Change, Splice
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.introspection import attributes
from diagnose.hooks.operands import value
from diagnose.hooks.positions import Texts
from diagnose.placement import Source
from diagnose.placement.semantics import last_name, nodes
from diagnose.repair.model import ABSENT_GPU, ABSENT_LISTED
from diagnose.repair.synthesis.transfers import Move, own_spots

#: What launchers call the rank among all machines, and that on its own.
_VARIABLES = {
    "RANK": "LOCAL_RANK",
    "SLURM_PROCID": "SLURM_LOCALID",
    "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_LOCAL_RANK",
    "PMI_RANK": "MPI_LOCALRANKID",
}
#: Methods and functions that are given the number of a GPU.
_CHOOSING = frozenset({"cuda", "to", "set_device", "device"})
_CAUSE, _KIND = "rank-device", "set-rank-device"


def ranking(error: BaseException) -> Iterator[Move]:
    """The edits: of the number itself first, then of the variable that it is read from.

    Args:
        error: a live failure.
    """
    if not any(one in str(error) for one in (ABSENT_GPU, ABSENT_LISTED)):
        return
    running = own_spots(error, Texts())
    sources = list({spot.file: spot.source for _, spot in running}.values())
    frames = [frame for frame, _ in running]
    for source in sources:
        for node in nodes(source.tree, ast.expr):
            for whole, number in _numbers(node):
                for local in _local(source, number, frames):
                    yield from _numbered(source, whole, local)
    for source in sources:
        for statement in nodes(source.tree, ast.Assign, ast.AnnAssign, ast.Return, ast.Expr):
            yield from _read(source, statement)


def _numbers(node: ast.AST) -> Iterator[tuple[ast.expr, ast.Name | ast.Attribute]]:
    """The names of a number by which an expression chooses a GPU, with what would be written anew."""
    match node:
        case ast.JoinedStr(
            values=[
                ast.Constant(value="cuda:"),
                ast.FormattedValue(value=ast.Name() | ast.Attribute() as number),
            ]
        ):
            yield node, number
        case (
            ast.Call(args=[ast.Name() | ast.Attribute() as number])
            | ast.Call(args=[ast.Constant(value="cuda"), ast.Name() | ast.Attribute() as number])
        ) if last_name(node.func) in _CHOOSING:
            yield number, number


def _numbered(source: Source, whole: ast.expr, local: str) -> Iterator[Move]:
    """The edit of a number, or of the text that it is put into."""
    if isinstance(whole, ast.JoinedStr):
        quote = "'" if '"' in local else '"'
        local = f"f{quote}cuda:{{{local}}}{quote}"
    with suppress(Refused):
        yield from _edit(source, [replaced(source, whole, local)])


def _local(source: Source, number: ast.expr, frames: list[FrameType]) -> Iterator[str]:
    """What tells the rank on its own machine, where a number is one among all machines that is too high:
    what the same object keeps, else the launcher's variable."""
    if "rank" not in (name := last_name(number)) or "local" in name:
        return
    if isinstance(number, ast.Attribute):
        owners = [value(number.value, frame) for frame in frames]
        kept = {one for owner in owners for one in _kept(attributes(owner))}
        if len(kept) == 1 or _keeps_both(source, name):
            yield f"{text_of(source, number.value)}.{kept.pop() if kept else 'local_rank'}"
            return
    for variable, local in _VARIABLES.items():
        if variable in os.environ and local in os.environ:
            with suppress(Refused):
                name, needed = spelled(source, "os.environ", number)
                if not needed:
                    yield f"int({of_environment(source, name, local)})"


def _kept(held: Mapping[str, Any]) -> Iterator[str]:
    """The attributes that are called local and hold the number that the launcher tells."""
    told = {os.environ[local] for local in _VARIABLES.values() if local in os.environ}
    for name, number in held.items():
        if name == "local_rank" or (
            "local" in name and isinstance(number, int) and str(number) in told
        ):
            yield name


def _keeps_both(source: Source, name: str) -> bool:
    """Whether a class of the file has both ranks for fields."""
    fields = [
        {last_name(one.target) for one in node.body if isinstance(one, ast.AnnAssign)}
        for node in nodes(source.tree, ast.ClassDef)
    ]
    return any({name, "local_rank"} <= one for one in fields)


def _read(source: Source, statement: ast.stmt) -> Iterator[Move]:
    """The edits of a statement that reads a rank among all machines for one that is called local; where
    it gives both names the same value, the other keeps it."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    local = [one for one in targets if "local" in last_name(one) or "gpu" in last_name(one)]
    for node in nodes(statement, ast.Constant) if local else ():
        known = _VARIABLES.get(str(node.value))
        if known and isinstance(statement, ast.Assign):
            change = replaced(source, node, f'"{known}"')
            if len(targets) == 1:
                yield from _edit(source, [change])
            elif len(targets) == 2 and len(local) == 1:
                yield from _apart(source, statement, local[0], node)


def _apart(
    source: Source, statement: ast.Assign, local: ast.expr, variable: ast.Constant
) -> Iterator[Move]:
    """The edit of ``rank = local_rank = int(env["RANK"])``: each gets its own."""
    other = next(one for one in statement.targets if one is not local)
    names = f"{ast.unparse(other)}, {ast.unparse(local)}"
    read = text_of(source, statement.value)
    own = read.replace(text_of(source, variable), f'"{_VARIABLES[str(variable.value)]}"')
    code = f"{names} = {read}, {own}"
    with suppress(Refused):
        start, end = span(source, statement)
        change = Change((Splice(start, end, code),), statement, statements(code))
        yield from _edit(source, [change])


def _edit(source: Source, changes: list[Change]) -> Iterator[Move]:
    with suppress(Refused):
        yield Move(_KIND, file_edit(source, changes), cause=_CAUSE, says="present")
