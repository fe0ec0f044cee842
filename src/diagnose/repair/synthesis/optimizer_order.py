"""Edits of where an optimizer is made that keeps state from its first moment: the model goes to its device
before that, by what the program brings it there with later."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from diagnose.fixes.codemods.statements import before_statement
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.operands import assigned
from diagnose.hooks.positions import Text
from diagnose.placement.semantics import Function, bindings_by, calls, dotted, nodes, parameters
from diagnose.repair.synthesis.optimizer_states import steps, strays
from diagnose.repair.synthesis.transfers import Move


def preceding(error: BaseException) -> Iterator[Move]:
    """The edits, in the file of the line that steps.

    Args:
        error: a live failure.
    """
    for step in steps(error):
        if strays(step.optimizer) is not None:
            yield from _edits(step.text, ast.unparse(step.owner))
            return


def _edits(text: Text, optimizer: str) -> Iterator[Move]:
    for node in nodes(text.source.tree, ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=ast.Call()):
                if ast.unparse(target) != optimizer or (model := _model(node.value)) is None:
                    continue
                for move in dict.fromkeys(_moves(text, model, node)):
                    with suppress(Refused):
                        change = before_statement(text.source, node, f"{model}.{move}")
                        edit = file_edit(text.source, [change])
                        yield Move("reorder-move-after-build", edit, cause="optimizer-state")


def _model(made: ast.expr) -> str | None:
    """The model whose parameters an optimizer is given."""
    for node in calls(made):
        match node:
            case ast.Call(func=ast.Attribute(attr="parameters", value=model), args=[], keywords=[]):
                return ast.unparse(model)
    return None


def _moves(text: Text, model: str, made: ast.Assign) -> Iterator[str]:
    """How the program moves a model later, as it can be said where the optimizer is made."""
    for node in calls(text.source.tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="cuda", value=owner), args=[], keywords=[]):
                if ast.unparse(owner) == model:
                    yield "cuda()"
            case ast.Call(func=ast.Attribute(attr="to", value=owner), args=[given], keywords=[]):
                if ast.unparse(owner) == model and (told := _told(text, given, made)) is not None:
                    yield f"to({told})"


def _told(text: Text, device: ast.expr, made: ast.Assign) -> str | None:
    """A device in the words of the function that makes the optimizer; a name of another function's by what
    that was bound to."""
    here, there = text.function(made), text.function(device)
    if isinstance(device, ast.Name) and here is not there:
        bound = assigned(device, there, device.lineno)
        device = bound if bound is not None else device
    known = {"torch", *_bound(text.source.tree, made.lineno)}
    known |= _bound(here, made.lineno)
    known |= {one.arg for one in parameters(here)} if isinstance(here, Function) else set()
    own = {
        ast.unparse(node)
        for node in nodes(here, ast.Attribute)
        if isinstance(node.ctx, ast.Store) and node.lineno < made.lineno
    }
    for node in nodes(device, ast.Name, ast.Attribute):
        if isinstance(node, ast.Name) and node.id not in known:
            return None
        of_self = isinstance(node, ast.Attribute) and dotted(node.value) == "self"
        if of_self and ast.unparse(node) not in own:
            return None
    return ast.unparse(device).replace("'", '"')


def _bound(scope: ast.AST, line: int) -> set[str]:
    """The names that a scope's own statements bind above a line."""
    body = getattr(scope, "body", ())
    rows = body if isinstance(body, list) else []
    found = (one for row in rows if row.lineno < line for one in bindings_by(row))
    return {name for one in found if (name := dotted(one.target))}
