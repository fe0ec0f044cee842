"""Edits of wrappers whose model is on another GPU than their first: the one that was chosen comes first, or
is their only one, which gives the others up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from diagnose.fixes.codemods.expressions import replaced, with_argument
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.positions import Text, Texts
from diagnose.placement import Source
from diagnose.placement.semantics import argument, called, calls, nodes, stored
from diagnose.repair.synthesis.transfers import Move, own_spots

_REFUSED, _CAUSE = "(device_ids[0])", "dataparallel-home-device"
_MOVES = frozenset({"to", "cuda"})


def heading(error: BaseException) -> Iterator[Move]:
    """The edits, of each wrapper in the running functions' files that a line moves to a device with a name.

    Args:
        error: a live failure.
    """
    if _REFUSED not in str(error):
        return
    texts = Texts()
    for file in dict.fromkeys(spot.file for _, spot in own_spots(error, texts)):
        text = texts.of(file)
        for call in calls(text.source.tree, "DataParallel") if text is not None else ():
            if text is None:
                continue
            gpus = _listed(call, text)
            for device in map(ast.unparse, _first(call, text)) if gpus is not None else ():
                with suppress(Refused):
                    listed = f"[{device}.index, *(i for i in {gpus} if i != {device}.index)]"
                    change = with_argument(text.source, call, "device_ids", listed)
                    edit = file_edit(text.source, [change])
                    yield Move("other", edit, cause=_CAUSE, says="leading")
            for change in _homes(call, text):
                with suppress(Refused):
                    edit = file_edit(text.source, [change])
                    yield Move("set-rank-device", edit, cause=_CAUSE, says="following")
            for device in _chosen(call, text):
                with suppress(Refused):
                    change = with_argument(text.source, call, "device_ids", f"[{device}]")
                    edit = file_edit(text.source, [change])
                    yield Move("single-gpu", edit, True, cause=_CAUSE, says="headed")


def _chosen(wrapper: ast.Call, text: Text) -> Iterator[str]:
    """The devices to which a wrapper is moved, where they have a name."""
    statement = text.statement(wrapper)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = {ast.unparse(one) for one in targets}
    for node in calls(text.function(wrapper)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=moved, attr=name),
                args=[ast.Name() | ast.Attribute() as device],
            ) if name in _MOVES and (moved is wrapper or ast.unparse(moved) in names):
                yield ast.unparse(device)


def _homes(wrapper: ast.Call, text: Text) -> Iterator[Change]:
    """The changes of what the function calls its device, and of where it moves the model, to the first of
    the GPUs that a wrapper is given under a name, where that is known there already."""
    given = argument(wrapper, "device_ids")
    if not isinstance(given, ast.Name | ast.Attribute):
        return
    gpus, scope = ast.unparse(given), text.function(wrapper)
    names = {ast.unparse(one) for one in _first(wrapper, text)}
    for node in nodes(scope, ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value) if (
                ast.unparse(target) in names
                and node.lineno < wrapper.lineno
                and _is_bound(gpus.partition(".")[0], scope, node.lineno)
            ):
                with suppress(Refused):
                    yield _of_gpu(text.source, value, f"{gpus}[0]")
    for device in _first(wrapper, text):  # the rest stays with what the program calls its device
        if _is_bound(gpus.partition(".")[0], scope, device.lineno):
            instead = f"{gpus}[0] if {gpus} else {ast.unparse(device)}"
            with suppress(Refused):
                yield replaced(text.source, device, instead)


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


def _listed(wrapper: ast.Call, text: Text) -> str | None:
    """The numbers of the GPUs that a wrapper is given under a name, else of all; None where it is given
    others, or more than these."""
    match wrapper:
        case ast.Call(args=[_], keywords=[]):
            return "range(torch.cuda.device_count())"
        case ast.Call(
            args=[_],
            keywords=[ast.keyword(arg="device_ids", value=ast.Name() | ast.Attribute() as given)],
        ):
            return text_of(text.source, given)
    return None


def _first(wrapper: ast.Call, text: Text) -> Iterator[ast.expr]:
    """The device, by its name, to which the function has moved the model that it wraps then."""
    model = ast.unparse(wrapper.args[0])
    for node in nodes(text.function(wrapper), ast.Assign, ast.Expr):
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
