"""What a method gives as a dict is moved entry by entry: a dict has no ``to``."""

from __future__ import annotations

import ast

from diagnose.fixes.definitions.expressions import replaced
from diagnose.fixes.definitions.imports import is_imported
from diagnose.fixes.definitions.places import called, text_of
from diagnose.fixes.rewriting import Change
from diagnose.model import TorchNames
from diagnose.placement.model import Source


def moved_entries(source: Source, node: ast.expr, device: str, torch: TorchNames) -> Change | None:
    """The change of a call that gives a dict to one whose tensors are moved; None for other expressions.

    Args:
        source: the file.
        node: ``model.tokenize(texts)``; a function of a package (``clip.tokenize``) gives no dict.
        device: where the tensors are to go.
        torch: what torch and its libraries call their things.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=owner)) if called(node) in torch.dict_methods:
            pass
        case _:
            return None
    if isinstance(owner, ast.Name) and is_imported(source, owner.id, node):
        return None
    moved = f'value.to({device}) if hasattr(value, "to") else value'
    pairs = f"for key, value in {text_of(source, node)}.items()"
    return replaced(source, node, f"{{key: {moved} {pairs}}}")
