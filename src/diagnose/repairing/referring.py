"""Patches that are themselves what the program means: nothing else can be compared with them.

A library refuses a move outright (of a model that it has dispatched, or quantized) and an edit takes that
move away; or the mistake is who draws random numbers, and an edit names somebody who draws others.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from diagnose.repairing.comparing import changed
from diagnose.repairing.model import Candidate, Ran

_DRAWN = "generator-device"


def drops_refused(texts: Mapping[str, tuple[str, str]], wanted: Ran) -> bool:
    """Whether all that a patch does is to take away the move at which the program fails without device
    checks, too. ``texts`` are those of the edited files, before and after."""
    if wanted.failure is None or len(texts) != 1:
        return False
    ((file, (before, after)),) = texts.items()
    blocks = list(changed(before, after))
    if len(blocks) != 1:
        return False
    gone, made = blocks[0]
    failed, _, line = wanted.failure.place.rpartition(":")
    if made or failed != file or int(line) - 1 not in gone:
        return False
    return any(
        _is_move(one) and one.lineno - 1 == gone.start and one.end_lineno == gone.stop
        for one in ast.walk(ast.parse(before))
        if isinstance(one, ast.stmt)
    )


def _is_move(statement: ast.stmt) -> bool:
    """Whether a statement moves something, and does nothing else."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="to" | "cuda", value=moved))):
            return not any(isinstance(one, ast.Call) for one in ast.walk(moved))
        case ast.Assign(
            targets=[target], value=ast.Call(func=ast.Attribute(attr="to" | "cuda", value=moved))
        ):
            return ast.unparse(target) == ast.unparse(moved)
    return False


def draws_otherwise(texts: Mapping[str, tuple[str, str]], applied: Sequence[Candidate]) -> bool:
    """Whether all that a patch does is to say who draws, where nobody was named."""
    return all(one.cause == _DRAWN for one in applied) and all(
        _generators(after) > _generators(before) and _named(before) == _named(after)
        for before, after in texts.values()
    )


def _generators(text: str) -> int:
    return sum(
        word.arg == "generator"
        for word in ast.walk(ast.parse(text))
        if isinstance(word, ast.keyword)
    )


def _named(text: str) -> list[str]:
    """A program without its generators."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [word for word in node.keywords if word.arg != "generator"]
    return ast.unparse(tree).splitlines()
