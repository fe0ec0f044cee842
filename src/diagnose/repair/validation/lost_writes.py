"""Edits that lose what the program writes: a moved tensor is another one, and nobody keeps it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.placement.semantics import last_name, nodes
from diagnose.repair.patch import Patch, move_of

#: Attributes of a tensor that share its memory.
_VIEWS = frozenset({"data", "T", "mT"})
#: Functions that write into what they are given, beside those whose names end so.
_INTO_ARGUMENTS = frozenset({"all_reduce", "broadcast", "reduce", "copyto"})


def loses_a_write(patch: Patch) -> bool:
    """Whether an edited line writes into a copy that it makes: ``x.to(device).add_(1)``,
    ``x.to(device)[0] = 1``. The copy is gone after the line, and ``x`` is as it was."""
    try:
        tree = patch.new
    except (SyntaxError, ValueError):
        return False
    edited = (n for n in nodes(tree, ast.stmt) if _rows(n) & patch.edited)
    return any(_is_copy(written) for statement in edited for written in _written(statement))


def _rows(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _written(statement: ast.stmt) -> Iterator[ast.expr]:
    """What a statement writes into, and gives to nobody."""
    match statement:
        case ast.Assign(targets=targets):
            yield from targets
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            yield target
        case ast.Expr(value=ast.Call(func=func, args=args)):
            name = last_name(func)
            in_place = _in_place(name)
            owner = func.value if isinstance(func, ast.Attribute) else None
            if name in _INTO_ARGUMENTS or (in_place and _is_init(owner)):
                yield from args[:1]
            elif in_place and owner is not None:
                yield owner
    for node in (
        nodes(statement, ast.keyword) if isinstance(statement, ast.Expr | ast.Assign) else ()
    ):
        if node.arg == "out":
            yield node.value


def _is_init(owner: ast.expr | None) -> bool:
    """Whether a function is of ``torch.nn.init``, and no method of a tensor."""
    return owner is None or last_name(owner) == "init"


def _is_copy(node: ast.expr) -> bool:
    """Whether this is memory of a moved tensor; ``model.to(device).weight`` is not, modules are moved in
    place."""
    while (inner := _beneath(node)) is not None:
        node = inner
    return move_of(node) is not None


def _beneath(node: ast.expr) -> ast.expr | None:
    """What shares its memory with an expression: the tensor of a part of it, or that a method writes into,
    which gives it back."""
    match node:
        case ast.Subscript(value=inner):
            return inner
        case ast.Attribute(value=inner, attr=name) if name in _VIEWS:
            return inner
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if _in_place(name):
            return inner
    return None


def _in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")
