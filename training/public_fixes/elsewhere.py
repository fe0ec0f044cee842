"""What a move is about besides the device: where it stood before, what it follows, what it is done for."""

from __future__ import annotations

import ast
import re

from placing import called, moved, placings
from program_tree import Stated, Tree


def moves(node: ast.stmt) -> set[tuple[str, str]]:
    """What a statement moves, by its name and by the name that it gets, and to which device."""
    found = set[tuple[str, str]]()
    for _, call, device in placings(node):
        if (value := moved(call)) is None:
            continue
        to = f"{called(call)} {'' if device is None else ast.unparse(device)}"
        found.add((ast.unparse(value), to))
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            held = ast.unparse(node.value)
            if held.startswith(ast.unparse(call)):  # all else is a method of what was moved
                found.add((ast.unparse(node.targets[0]), to))
    return found


def between(tree: Tree, was: Stated, now: Stated) -> list[ast.stmt]:
    """The statements between where one stood, about, and where it stands."""
    first, last = sorted((was.node.lineno, now.node.lineno))
    return [one for one in tree.statements if first <= one.lineno <= last and one is not now.node]


def orders(kind: str, now: Stated, one: ast.stmt) -> bool:
    """Whether the order of a statement and another tells on which device something is."""
    value = getattr(one, "value", None)
    if kind == "rebuild-optimizer":
        return moved(value or one) is not None
    call = getattr(now.node, "value", None)
    inner = moved(call) if call is not None else None
    if inner is None or not isinstance(one, ast.Assign):
        return False
    name = re.escape(ast.unparse(inner))
    built = any(re.match(rf"{name}(?:[.\[]|$)", ast.unparse(target)) for target in one.targets)
    return built and not re.search(r"jit\.|compile\(|\.(?:eval|train)\(", ast.unparse(one.value))


def for_types(tree: Tree, node: ast.stmt) -> bool:
    """Whether it is done only where types of elements differ."""
    above = tree.parents.get(node)
    test = ast.unparse(above.test) if isinstance(above, ast.If) else ""
    return "dtype" in test and "device" not in test
