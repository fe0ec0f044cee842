"""Edits of how many processes a program starts: a number that is written down becomes that of the GPUs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

import torch

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.positions import Texts
from diagnose.placement import Source
from diagnose.placement.semantics import argument, calls, last_name, nodes
from diagnose.repair.model import ABSENT_GPU
from diagnose.repair.synthesis.transfers import Move, own_spots

#: Functions that start processes.
_STARTING = frozenset({"spawn", "start_processes"})


def starting(error: BaseException) -> Iterator[Move]:
    """The edits, in the files whose functions run.

    Args:
        error: a live failure of a process, in the one that started it.
    """
    if ABSENT_GPU not in str(error):
        return
    running = own_spots(error, Texts())
    for source in {spot.file: spot.source for _, spot in running}.values():
        for node in calls(source.tree):
            if last_name(node.func) in _STARTING:
                yield from _started(source, node)


def _started(source: Source, call: ast.Call) -> Iterator[Move]:
    """The edits of a written number of processes: there are as many as GPUs."""
    count = argument(call, "nprocs")
    for number in _written(source, count) if count is not None else ():
        if isinstance(number.value, int) and number.value > torch.cuda.device_count():
            with suppress(Refused):
                name, needed = spelled(source, "torch.cuda.device_count", number)
                edit = file_edit(source, [replaced(source, number, f"{name}()"), *needed])
                yield Move("set-rank-device", edit, cause="rank-device", says="present")


def _written(source: Source, count: ast.expr) -> Iterator[ast.Constant]:
    """Where a number is written: itself, what is bound to its name, the default of its option."""
    if isinstance(count, ast.Constant) and type(count.value) is int:
        yield count
        return
    for node in nodes(source.tree, ast.Assign, ast.AnnAssign, ast.Call):
        match node:
            case (
                ast.Assign(targets=[target], value=ast.Constant() as number)
                | ast.AnnAssign(target=target, value=ast.Constant() as number)
            ) if last_name(target) == last_name(count) and type(number.value) is int:
                yield number
            case ast.Call(args=[*_, ast.Constant(value=str(option))], keywords=named) if (
                option.lstrip("-").replace("-", "_") == last_name(count)
            ):
                for one in named:
                    if one.arg == "default" and isinstance(one.value, ast.Constant):
                        yield one.value
