"""Other forms of a patch to which a guard objects that knows the better place: the move that came before,
the function that gives what is moved, the program's own way to fetch it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from diagnose.fixes.codemods.expressions import moved, replaced, without_method
from diagnose.fixes.codemods.positions import class_around, statement_of, text_of
from diagnose.fixes.codemods.statements import indentation
from diagnose.fixes.file_gate import Change, rewritten
from diagnose.fixes.line_gate import Refused
from diagnose.placement import Source
from diagnose.placement.semantics import names, nodes
from diagnose.repair.patch import Patch, Transfer, callee, goes_to_cpu, moves
from diagnose.repair.validation.redundant_moves import earlier, is_inline, told

#: The guards that know a better place.
KNOWING = frozenset({"twice", "deaf", "put-away"})


def better_placed(patch: Patch) -> Iterator[str]:
    """The edited text with one of its moves in a better place.

    Args:
        patch: a file, before and after.
    """
    source = Source("", patch.after.split("\n"), patch.new)
    for one in patch.transfers:
        for changing in (_sooner, _inside):
            with suppress(Refused):
                for changes in changing(source, one, patch):
                    yield rewritten(source, changes)
        with suppress(Refused):
            yield from _fetched(source, one)


def _sooner(source: Source, one: Transfer, patch: Patch) -> Iterator[list[Change]]:
    """The move that came before goes to where the new one does, or what it is told is bound to that."""
    move = earlier(one, patch)
    if move is None or len(one.call.args) != 1:
        return
    device, back = text_of(source, one.call.args[0]), without_method(source, one.call)
    if not move.args:
        owner = text_of(source, callee(move))
        yield [back, replaced(source, move, f"{owner}.to({device})")]
        return
    yield [back, replaced(source, move.args[0], device)]
    for node in nodes(source.tree, ast.Assign):
        match node:
            case ast.Assign(targets=[target], value=ast.Call(func=func) as value):
                named = set(names(value)) - {"torch"}
                same = ast.unparse(target) == ast.unparse(move.args[0])
                if same and not named and ast.unparse(func).endswith("device"):
                    made = f"{text_of(source, func)}({device})"
                    yield [back, replaced(source, value, made)]


def _inside(source: Source, one: Transfer, patch: Patch) -> Iterator[list[Change]]:
    """The function that is told the device moves what it returns."""
    function = told(one, patch)
    if function is None:
        return
    devices = [arg.arg for arg in function.args.args if arg.arg.endswith("device")]
    given = [node.value for node in nodes(function, ast.Return)]
    if len(devices) == 1 and len(given) == 1 and given[0] is not None:
        yield [without_method(source, one.call), moved(source, given[0], devices[0])]


def _fetched(source: Source, one: Transfer) -> Iterator[str]:
    """What is fetched in the midst of its call is fetched before the statement, and put away after it,
    where the object has methods for both."""
    statement, name = statement_of(source, one.call), one.name
    if not is_inline(one) or isinstance(statement, ast.Return):
        return
    there, away = (_methods(source, one.call, to_cpu=to_cpu) for to_cpu in (False, True))
    if len(there) == 1 and len(away) == 1:
        indent = indentation(source, statement)
        bare = rewritten(source, [without_method(source, one.call)]).split("\n")
        last = statement.end_lineno or statement.lineno
        bare.insert(last, f"{indent}self.{away[0]}({name})")
        bare.insert(statement.lineno - 1, f"{indent}self.{there[0]}({name})")
        yield "\n".join(bare)


def _methods(source: Source, node: ast.AST, *, to_cpu: bool) -> list[str]:
    """The methods of the class around a node that only move what they are given."""
    found = []
    for method in getattr(class_around(source, node), "body", ()):
        made = moves(method)
        given = method.args.vararg if isinstance(method, ast.FunctionDef) else None
        if given is not None and made and all(goes_to_cpu(call) == to_cpu for call in made):
            found.append(method.name)
    return found
