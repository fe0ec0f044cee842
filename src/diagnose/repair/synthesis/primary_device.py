"""Edits of wrappers whose model is on another GPU than their first: the one that was chosen comes first, or
is their only one, which gives the others up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from diagnose.fixes.codemods.expressions import replaced, with_argument
from diagnose.fixes.codemods.positions import statement_of, text_of
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.placement import Source
from diagnose.placement.semantics import argument, assigned, called, calls, nodes, scope_of, stored
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, proposed

_REFUSED, _CAUSE = "(device_ids[0])", "dataparallel-home-device"
_MOVES = frozenset({"to", "cuda"})


def heading(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits, of each wrapper in the running functions' files that a line moves to a device with a
    name."""
    for source in failure.sources if failure.says(_REFUSED) else ():
        for call in calls(source.tree, "DataParallel"):
            gpus = _listed(call, source)
            for device in map(ast.unparse, _first(call, source)) if gpus is not None else ():
                listed = f"[{device}.index, *(i for i in {gpus} if i != {device}.index)]"
                yield from _edit("other", "leading", source, _told, call, listed)
            for change in _homes(call, source):
                yield from _edit("set-rank-device", "following", source, *change)
            for device in _chosen(call, source):
                yield from _edit("single-gpu", "headed", source, _told, call, f"[{device}]")


def _edit(kind: str, says: str, source: Source, *change: Any) -> Iterator[Proposal]:
    """An edit of the cause; the last kind gives the other GPUs up."""
    yield from proposed(
        kind, source, *change, stopgap=kind == "single-gpu", cause=_CAUSE, says=says
    )


def _told(source: Source, wrapper: ast.Call, gpus: str) -> Change:
    return with_argument(source, wrapper, "device_ids", gpus)


def _chosen(wrapper: ast.Call, source: Source) -> Iterator[str]:
    """The devices to which a wrapper is moved, where they have a name."""
    statement = statement_of(source, wrapper)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = {ast.unparse(one) for one in targets}
    for node in calls(scope_of(source.tree, wrapper)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=moved, attr=name),
                args=[ast.Name() | ast.Attribute() as device],
            ) if name in _MOVES and (moved is wrapper or ast.unparse(moved) in names):
                yield ast.unparse(device)


def _homes(wrapper: ast.Call, source: Source) -> Iterator[tuple[Any, ...]]:
    """The changes of what the function calls its device, and of where it moves the model, to the first of
    the GPUs that a wrapper is given under a name, where that is known there already."""
    given = argument(wrapper, "device_ids")
    if not isinstance(given, ast.Name | ast.Attribute):
        return
    gpus, scope = ast.unparse(given), scope_of(source.tree, wrapper)
    root, devices = gpus.partition(".")[0], list(_first(wrapper, source))
    for name in dict.fromkeys(map(ast.unparse, devices)):
        for made in assigned(scope, name):
            if made.lineno < wrapper.lineno and _is_bound(root, scope, made.lineno):
                yield _of_gpu, made.value, f"{gpus}[0]"
    for device in devices:  # the rest stays with what the program calls its device
        if _is_bound(root, scope, device.lineno):
            yield replaced, device, f"{gpus}[0] if {gpus} else {ast.unparse(device)}"


def _is_bound(name: str, scope: ast.AST, line: int) -> bool:
    """Whether a name has its value before a line of a function."""
    if any(one.arg == name for one in nodes(scope, ast.arg)):
        return True
    return next((one.lineno < line for one in stored(scope) if one.id == name), True)


def _of_gpu(source: Source, value: ast.expr, number: str) -> Change:
    """The change of a device to the GPU of a number. Raises `Refused` where it names none."""
    match value:
        case ast.Call(args=[ast.Constant(value="cuda"), index]) if called(value) == "device":
            return replaced(source, index, number)
    for node in nodes(value, ast.Constant):
        if node.value in ("cuda", "cuda:0"):
            return replaced(source, node, f'f"cuda:{{{number}}}"')
    raise Refused("it names no GPU")


def _listed(wrapper: ast.Call, source: Source) -> str | None:
    """The numbers of the GPUs that a wrapper is given under a name, else of all; None where it is given
    others, or more than these."""
    match wrapper:
        case ast.Call(args=[_], keywords=[]):
            return "range(torch.cuda.device_count())"
        case ast.Call(
            args=[_],
            keywords=[ast.keyword(arg="device_ids", value=ast.Name() | ast.Attribute() as given)],
        ):
            return text_of(source, given)
    return None


def _first(wrapper: ast.Call, source: Source) -> Iterator[ast.expr]:
    """The device, by its name, to which the function has moved the model that it wraps then."""
    model = ast.unparse(wrapper.args[0])
    for node in nodes(scope_of(source.tree, wrapper), ast.Assign, ast.Expr):
        match node:
            case (
                ast.Assign(
                    targets=[target],
                    value=ast.Call(
                        func=ast.Attribute(attr="to"), args=[ast.Name() | ast.Attribute() as device]
                    ),
                )
                | ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=target, attr="to"),
                        args=[ast.Name() | ast.Attribute() as device],
                    )
                )
            ) if ast.unparse(target) == model and node.lineno < wrapper.lineno:
                yield device
