"""Another form of a patch that moves what a function of the program makes, at each step: the function is
told the device, and makes it there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from diagnose.casebase.store import load
from diagnose.fixes.codemods.expressions import replaced, with_argument, without_method
from diagnose.fixes.codemods.parameters import DEVICE, takes_device
from diagnose.fixes.codemods.positions import span, text_of
from diagnose.fixes.file_gate import Change, rewritten, spliced
from diagnose.fixes.line_gate import Refused
from diagnose.placement import Source
from diagnose.placement.semantics import bound, called, calls, functions, holds, nodes
from diagnose.repair.patch import Patch, Transfer, goes_to_cpu

#: The methods that run at each step of a program.
_AT_EACH_STEP = frozenset({"forward", "__call__"})


def commissioning(patch: Patch) -> Iterator[str]:
    """The edited text without a move, and with the function told that makes what was moved.

    Args:
        patch: a file, before and after.
    """
    source = Source("", patch.after.split("\n"), patch.new)
    for one in patch.transfers:
        if len(one.call.args) != 1 or goes_to_cpu(one.call) or not _is_repeated(one):
            continue
        call = _made_by(one)
        function = _own(source.tree, call) if call is not None else None
        if call is None or function is None or _draws(function):
            continue
        with suppress(Refused):
            taking = takes_device(source, function, load().knowledge.torch)
            yield rewritten(source, [*taking, *_telling(source, one, call)])


def _is_repeated(one: Transfer) -> bool:
    """Whether a move is made at each step: in a loop, or where a model is called."""
    return getattr(one.scope, "name", "") in _AT_EACH_STEP or any(
        holds(body, one.call) for loop in nodes(one.scope, ast.For, ast.While) for body in loop.body
    )


def _made_by(one: Transfer) -> ast.Call | None:
    """The call of a name that gives what is moved, there or where the function binds it, once."""
    made: ast.expr = one.moved
    if isinstance(made, ast.Name):
        given = [each.value for each in bound(one.scope, made.id)]
        if len(given) != 1 or given[0] is None:
            return None
        made = given[0]
    while isinstance(made, ast.Attribute | ast.Subscript | ast.Call):  # ``table(n)[None].float()``
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):
            return made
        made = made.func if isinstance(made, ast.Call) else made.value
    return None


def _own(tree: ast.Module, call: ast.Call) -> ast.FunctionDef | None:
    """The function at the top of the file that a name calls, if there is only one of that name."""
    name = ast.unparse(call.func)
    found = [one for one in functions(tree) if one.name == name]
    only = found[0] if len(found) == 1 and found[0] in tree.body else None
    return only if isinstance(only, ast.FunctionDef) else None


def _draws(function: ast.FunctionDef) -> bool:
    """Whether random numbers are among what a function makes: drawn on the cpu, they stay the same."""
    return any(called(one) in load().knowledge.torch.drawing_factories for one in calls(function))


def _telling(source: Source, one: Transfer, call: ast.Call) -> list[Change]:
    """The move is gone, and the device that it named is told in the call."""
    if any(word.arg is None for word in call.keywords):
        raise Refused("** may hold a device already")
    told = with_argument(source, call, DEVICE, text_of(source, one.call.args[0]))
    if not holds(one.call, call):
        return [without_method(source, one.call), told]
    start, end = span(source, one.moved)
    text = spliced(
        source.text[start:end],
        [s._replace(start=s.start - start, end=s.end - start) for s in told.splices],
    )
    return [replaced(source, one.call, text)]
