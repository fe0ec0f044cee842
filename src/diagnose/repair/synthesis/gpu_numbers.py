"""Edits of what chooses a GPU that is not there: a rank among all machines becomes the one on its own, or
the launcher's variable, a number that is computed is counted in a circle, one that is written down becomes
the first, a list of the first few all that are there, and so many processes are started."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import torch

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.codemods.positions import span, text_of
from diagnose.fixes.codemods.ranks import gpu_of, of_environment
from diagnose.fixes.codemods.statements import statements
from diagnose.fixes.file_gate import Change, Splice
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.introspection import attributes
from diagnose.placement import Source
from diagnose.placement.semantics import argument, calls, last_name, nodes
from diagnose.repair.model import ABSENT_GPU, ABSENT_LISTED
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, Running, proposed

#: What a trainer says of a quantized model that is elsewhere.
_ELSEWHERE = "on a different device than the one you're training on"
#: Calls whose only argument is a device, or a GPU's number; those that nothing but a GPU is chosen by.
_TAKING = frozenset({"to", "cuda", "set_device", "device"})
_CHOOSING = frozenset({"cuda", "set_device"})
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
#: What a program calls the rank of a process on its own machine.
_LOCAL = "local_rank"
_RANK = re.compile("(global_|world_)?rank")
#: What launchers call the rank among all machines, and that on its own.
_VARIABLES = {
    "RANK": "LOCAL_RANK",
    "SLURM_PROCID": "SLURM_LOCALID",
    "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_LOCAL_RANK",
    "PMI_RANK": "MPI_LOCALRANKID",
}
_COUNT = "torch.cuda.device_count"


def choosing(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits of numbers and names of GPUs: in the running functions, the innermost first, and then in
    the rest of their files."""
    if not failure.says(ABSENT_GPU, ABSENT_LISTED):
        return
    for one in failure.running:
        for node in (node for node in nodes(one.scope, ast.expr) if node.lineno <= one.spot.line):
            for whole, number, _ in _numbers(node):
                if isinstance(number, ast.Constant) and type(number.value) is int:
                    if whole is number and not _is_there(number.value):
                        yield from _first(one.source, replaced, number, "0")
                elif (counted := _counted(one.source, number, one)) is not None:
                    yield from _numbered(one.source, whole, counted)
    for source in failure.sources:
        for node in nodes(source.tree, ast.expr):
            yield from _of_file(source, node, failure)


def _of_file(source: Source, node: ast.expr, failure: LiveFailure) -> Iterator[Proposal]:
    """The edits of an expression that chooses a GPU, wherever it stands."""
    for whole, number, sure in _numbers(node):
        there = any(_is_there(one.value(number)) for one in failure.running)
        if sure and isinstance(number, ast.Name | ast.Attribute) and not there:
            for chosen in (_of_the_machine(source, number), _counted(source, number)):
                if chosen is not None:
                    yield from _numbered(source, whole, chosen)
    if isinstance(node, ast.Constant) and _is_absent(node.value):
        yield from _first(source, replaced, node, '"cuda"')
    elif isinstance(node, ast.List) and _counts_too_far(node):
        yield from _first(source, _instead, node, _COUNT, "list(range({}()))")


def ranking(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits of ranks: of the number itself first, then of the variable that it is read from."""
    if not failure.says(ABSENT_GPU, ABSENT_LISTED):
        return
    for source in failure.sources:
        for node in nodes(source.tree, ast.expr):
            for whole, number, _ in _numbers(node):
                if isinstance(number, ast.Name | ast.Attribute):
                    for local in _local(source, number, failure):
                        yield from _numbered(source, whole, local)
    for source in failure.sources:
        for statement in nodes(source.tree, ast.Assign):
            yield from _read(source, statement)


def starting(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits of how many processes a program starts, where a number is written: there are as many as
    GPUs."""
    for source in failure.sources if failure.says(ABSENT_GPU) else ():
        for node in calls(source.tree, "spawn", "start_processes"):
            count = argument(node, "nprocs")
            for number in _written(source, count) if count is not None else ():
                if isinstance(number.value, int) and not _is_there(number.value - 1):
                    yield from _of_rank(source, _instead, number, _COUNT, "{}()")


def mapping(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits of each map that names one device for a whole model, which is trained on another one and
    can't be moved there: it names the process's own GPU."""
    for source in failure.sources if failure.says(_ELSEWHERE) else ():
        for node in nodes(source.tree, ast.Dict):
            match node:
                case ast.Dict(keys=[ast.Constant(value="")], values=[device]):
                    own = (_instead, device, "torch.cuda.current_device", "{}()")
                    yield from proposed("pin-device-map", source, *own)


def _instead(source: Source, node: ast.expr, function: str, text: str) -> list[Change]:
    """The changes of an expression to one that calls a function of torch's, as the file spells that."""
    name, needed = spelled(source, function, node)
    return [replaced(source, node, text.format(name)), *needed]


def _numbers(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """The number by which an expression chooses a GPU, wherever it stands, with what would be written anew;
    whether it can be nothing but a number."""
    match node:
        case ast.JoinedStr(values=[ast.Constant(value="cuda:"), ast.FormattedValue(value=number)]):
            yield node, number, True
        case ast.Call(args=[ast.Constant(value="cuda"), number]):
            if last_name(node.func) in _TAKING:
                yield number, number, last_name(node.func) == "device"
        case (
            ast.Call(args=[number])
            | ast.Call(args=[], keywords=[ast.keyword(arg="device", value=number)])
        ) if last_name(node.func) in _TAKING:
            yield number, number, last_name(node.func) in _CHOOSING


def _numbered(source: Source, whole: ast.expr, text: str) -> Iterator[Proposal]:
    """The edit of a number, or of the f-string that it is put into, which is written anew."""
    made = gpu_of(text) if isinstance(whole, ast.JoinedStr) else text
    yield from _of_rank(source, replaced, whole, made)


def _of_rank(source: Source, *changes: Any) -> Iterator[Proposal]:
    yield from proposed("set-rank-device", source, *changes, cause="rank-device", says="present")


def _first(source: Source, *changes: Any) -> Iterator[Proposal]:
    kind, cause = "use-like-device-of-other", "hardcoded-device"
    yield from proposed(kind, source, *changes, cause=cause, says="present")


def _of_the_machine(source: Source, number: ast.expr) -> str | None:
    """The rank on its own machine that the program keeps beside one among all machines."""
    if not _RANK.fullmatch(name := last_name(number)):
        return None
    local = _RANK.sub(_LOCAL, name)
    for node in nodes(source.tree, ast.expr, ast.arg):
        match node, number:
            case ast.Attribute(attr=other), ast.Attribute(value=owner) if other == local:
                return f"{ast.unparse(owner)}.{local}"
            case ((ast.Name(id=other, ctx=ast.Store()) | ast.arg(arg=other)), ast.Name()):
                if other == local:
                    return local
    return None


def _counted(source: Source, number: ast.expr, running: Running | None = None) -> str | None:
    """A number that is taken in a circle; None for one that is so already, or that is there."""
    if running is not None and isinstance(number, ast.Name | ast.Attribute):
        held = running.value(number)
        if type(held) is not int or _is_there(held):
            return None
    if isinstance(number, ast.Constant | ast.JoinedStr | ast.IfExp) or (
        isinstance(number, ast.BinOp) and isinstance(number.op, ast.Mod)
    ):
        return None
    name, needed = spelled(source, _COUNT, number)
    text = text_of(source, number)
    circle = f"{text if isinstance(number, _ATOMS) else f'({text})'} % {name}()"
    return circle if not needed else None


def _is_there(held: object) -> bool:
    """Whether this is the number of a GPU that is there."""
    return type(held) is int and held < torch.cuda.device_count()


def _is_absent(held: object) -> bool:
    """Whether this is the name of a GPU that is not there."""
    kind, _, number = held.partition(":") if isinstance(held, str) else ("", "", "")
    return kind == "cuda" and number.isdigit() and not _is_there(int(number))


def _counts_too_far(node: ast.List) -> bool:
    """Whether a list counts GPUs from the first one, and more than there are."""
    numbers = [one.value for one in node.elts if isinstance(one, ast.Constant)]
    first = list(range(len(node.elts)))
    return len(first) > max(1, torch.cuda.device_count()) and numbers == first


def _local(source: Source, number: ast.expr, failure: LiveFailure) -> Iterator[str]:
    """What tells the rank on its own machine, where a number is one among all machines that is too high:
    what the same object keeps, else the launcher's variable."""
    if "rank" not in (name := last_name(number)) or "local" in name:
        return
    if isinstance(number, ast.Attribute):
        owners = [one.value(number.value) for one in failure.running]
        kept = {one for owner in owners for one in _kept(attributes(owner))}
        if len(kept) == 1 or _keeps_both(source, name):
            yield f"{text_of(source, number.value)}.{kept.pop() if kept else _LOCAL}"
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
        local = "local" in name and isinstance(number, int) and str(number) in told
        if name == _LOCAL or local:
            yield name


def _keeps_both(source: Source, name: str) -> bool:
    """Whether a class of the file has both ranks for fields."""
    fields = [
        {last_name(one.target) for one in node.body if isinstance(one, ast.AnnAssign)}
        for node in nodes(source.tree, ast.ClassDef)
    ]
    return any({name, _LOCAL} <= one for one in fields)


def _read(source: Source, statement: ast.Assign) -> Iterator[Proposal]:
    """The edits of a statement that reads a rank among all machines for one that is called local; where
    it gives both names the same value, the other keeps it: ``rank = local_rank = int(env["RANK"])``."""
    targets = statement.targets
    local = [one for one in targets if "local" in last_name(one) or "gpu" in last_name(one)]
    for node in nodes(statement, ast.Constant) if local else ():
        if known := _VARIABLES.get(str(node.value)):
            if len(targets) == 1:
                yield from _of_rank(source, replaced, node, f'"{known}"')
            elif len(targets) == 2 and len(local) == 1:
                yield from _of_rank(source, _apart, statement, local[0], node)


def _apart(
    source: Source, statement: ast.Assign, local: ast.expr, variable: ast.Constant
) -> Change:
    """The change by which each of two names gets its own."""
    other = next(one for one in statement.targets if one is not local)
    names = f"{ast.unparse(other)}, {ast.unparse(local)}"
    read = text_of(source, statement.value)
    own = read.replace(text_of(source, variable), f'"{_VARIABLES[str(variable.value)]}"')
    code = f"{names} = {read}, {own}"
    start, end = span(source, statement)
    return Change((Splice(start, end, code),), statement, statements(code))


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
            case ast.Call(args=[*_, ast.Constant(value=str(option))]) if option.lstrip("-").replace(
                "-", "_"
            ) == last_name(count):
                if isinstance(default := argument(node, "default"), ast.Constant):
                    yield default
