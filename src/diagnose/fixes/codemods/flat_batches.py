"""What moves the tensors of a batch one by one, and passes over a list of them, moves those too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.positions import span, statement_of, text_of
from diagnose.fixes.codemods.statements import after_statement, before_statement
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.kinds import EventKind
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import called, names, nodes

#: What an item of a list is called, the first that the program does not use.
_NAMES = ("item", "each", "one")


class _Part(NamedTuple):
    """What is asked of a part of the batch, how it is moved, and the name that it has."""

    test: ast.expr
    move: ast.expr
    name: str


def passing_over(source: Source, torch: TorchNames) -> Iterator[Change]:
    """The changes of a file, for each place that moves the parts of a batch that are tensors: lists of them
    are moved too, then tuples, then dicts.

    Args:
        source: the file.
        torch: what moves.
    """
    for node in nodes(source.tree, ast.IfExp, ast.If):
        if (part := _part(node, torch)) is not None:
            for kind in ("list", "tuple", "dict"):
                with suppress(Refused):
                    yield _written(source, node, part, kind)


def in_lists(source: Source, statement: ast.AST, torch: TorchNames) -> Change | None:
    """The change by which a statement that moves the parts of a batch moves lists of tensors, too; None for
    other statements."""
    for node in nodes(statement, ast.IfExp, ast.If):
        if (part := _part(node, torch)) is not None:
            return _written(source, node, part, "list")
    return None


def left_in_a_list(suspect: Suspect, torch: TorchNames) -> Suspect:
    """An input that stood in a list where such a statement moved the rest of its batch, at that place; else
    as it is."""
    for step in reversed(suspect.steps) if suspect.cause == "input-not-moved" else ():
        parts = (_part(node, torch) for node in nodes(step.spot.node, ast.IfExp, ast.If))
        if step.what == EventKind.PASSED and any(parts):
            return suspect._replace(spot=step.spot)
    return suspect


def _part(node: ast.AST, torch: TorchNames) -> _Part | None:
    """A choice between a tensor that is moved, and all else, which stays as it is."""
    match node:
        case ast.IfExp(test=test, body=ast.Call() as move, orelse=ast.Name(id=name)):
            pass
        case ast.If(test=test, body=[ast.Assign(value=ast.Call() as move)], orelse=[]):
            name = _asked(test) or ""
        case _:
            return None
    owner = move.func.value if isinstance(move.func, ast.Attribute) else None
    moves = isinstance(owner, ast.Name) and owner.id == name and called(move) in torch.moves
    return _Part(test, move, name) if moves and _asked(test) == name else None


def _asked(test: ast.expr) -> str | None:
    """The name of what a condition asks whether it is a tensor."""
    match test:
        case ast.Call(func=ast.Attribute(attr="is_tensor"), args=[ast.Name(id=name)]):
            return name
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kind]):
            return name if ast.unparse(kind).rpartition(".")[2] == "Tensor" else None
        case ast.Call(
            func=ast.Name(id="hasattr"), args=[ast.Name(id=name), ast.Constant(value="to")]
        ):
            return name
    return None


def _written(source: Source, node: ast.AST, part: _Part, kind: str) -> Change:
    used = {*names(source.tree)}
    item = next((name for name in _NAMES if name not in used), None)
    if item is None:
        raise Refused("the file uses all names that an item could have")
    test, move = (_of(source, one, part.name, item) for one in (part.test, part.move))
    each = f"{move} if {test} else {item} for {item} in {part.name}"
    moved = {
        "list": f"[{each}]",
        "tuple": f"tuple({each})",
        "dict": f"{{key: {move} if {test} else {item} for key, {item} in {part.name}.items()}}",
    }[kind]
    asked = f"isinstance({part.name}, {kind})"
    statement = statement_of(source, node)
    if isinstance(statement, ast.Assign) and statement.value is node:
        code = f"if {asked}:\n    {part.name} = {moved}"
        return before_statement(source, statement, code)
    if isinstance(node, ast.IfExp):
        return replaced(source, node.orelse, f"{moved} if {asked} else {part.name}")
    assert isinstance(node, ast.If)
    assigned = node.body[0]
    assert isinstance(assigned, ast.Assign)
    if source.lines[node.lineno - 1][node.col_offset :].startswith("elif"):
        raise Refused("the condition is a branch of another one")
    target = text_of(source, assigned.targets[0])
    return after_statement(source, node, f"if {asked}:\n    {target} = {moved}")


def _of(source: Source, node: ast.expr, name: str, item: str) -> str:
    """The text of an expression of one name, of another one."""
    start = span(source, node)[0]
    text = text_of(source, node)
    uses = [one for one in nodes(node, ast.Name) if one.id == name]
    for one in sorted(uses, key=lambda each: span(source, each)[0], reverse=True):
        first, last = span(source, one)
        text = text[: first - start] + item + text[last - start :]
    return text
