"""Whether a program spreads the parts of a model over devices by hand, as its text tells: some of the parts
may be of classes of which nothing is known."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def spreads_by_hand(tree: ast.AST) -> bool:
    """Whether a class makes parts of its own in ``__init__``, and sends them to devices of different names:
    ``Encoder(cfg).to(first)`` and ``Decoder(cfg).to(second)``.

    Args:
        tree: of a file.
    """
    return any(
        len(set(_devices(node))) > 1
        for kind in ast.walk(tree)
        if isinstance(kind, ast.ClassDef)
        for node in kind.body
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    )


def _devices(function: ast.FunctionDef) -> Iterator[str]:
    """The devices, other than the cpu, that what a function makes is sent to, as it writes them."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr="to", value=ast.Call() as made), args=[device]):
                kind = ast.unparse(made.func).rpartition(".")[2]
                told = ast.unparse(device).removeprefix("self.")
                if kind[:1].isupper() and "cpu" not in told and "dtype" not in told:
                    yield told
