"""Edits that do one half of something: move one of two things that are made and given alike, or bring back
what a function that the caller gives was to move."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.model import Lang
from diagnose.repairing.comparing import edited_lines
from diagnose.repairing.guarding.fitting import added, callee, goes_to_cpu, move_of
from diagnose.repairing.model import Guard
from diagnose.repairing.scopes import FUNCTION
from diagnose.repairing.words import say


def given_back(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """What a function makes of its argument that the caller gives (``fn(value)``) is not brought back to
    where the argument was: to move it may be what that function is for."""
    for one in added(before, ast.parse(after), after):
        given = (
            {arg.arg for arg in one.scope.args.args} if isinstance(one.scope, FUNCTION) else set()
        )
        match one.moved, one.call.args:
            case (
                ast.Call(func=ast.Name(id=name), args=handed),
                [ast.Attribute(attr="device", value=where)],
            ) if name in given and ast.unparse(where) in map(ast.unparse, handed):
                told = say(lang, "given-back", line=one.call.lineno, name=name)
                yield Guard("gives-up", False, told)
                return


def left_alone(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """Of what a function makes by expressions of the same form, and gives together, not only a part is
    moved."""
    tree, edited = ast.parse(after), edited_lines(before, after)
    for function in (node for node in ast.walk(tree) if isinstance(node, FUNCTION)):
        given = [
            {one.id for one in node.value.elts if isinstance(one, ast.Name)}
            for node in ast.walk(function)
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple)
        ]
        made = dict(_made(function))
        for name, value in made.items():
            move = move_of(value)
            if move is None or goes_to_cpu(move) or move.lineno not in edited:
                continue
            for other, beside in made.items():
                together = any({name, other} <= names for names in given)
                if other != name and together and _form(beside) == _form(callee(move)):
                    said = {"line": move.lineno, "name": name, "other": other}
                    yield Guard("parted", False, say(lang, "left-alone", **said))
                    return


def _made(function: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a function binds, each with what it is last bound to."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value


def _form(node: ast.expr) -> str:
    """An expression without its names, and without which part is taken of something."""
    form = ast.parse(ast.unparse(node), mode="eval")
    for one in ast.walk(form):
        if isinstance(one, ast.Name):
            one.id = "_"
        elif isinstance(one, ast.Subscript):
            one.slice = ast.Constant(None)
    return ast.dump(form)
