"""The part of a module that a statement keeps of what it builds, as in ``vgg16().features[:9].eval()``."""

from __future__ import annotations

import ast

from diagnose.fixes.codemods.positions import ancestors
from diagnose.model import TorchNames
from diagnose.placement.model import Source


def part_of(source: Source, node: ast.expr, torch: TorchNames) -> ast.expr:
    """The part that is kept, without what is called of it: the rest is built for nothing and need not be
    moved. A module of which no part is taken is returned as it is.

    Args:
        source: the file.
        node: the expression that builds the whole.
        torch: what torch calls its things.
    """
    same = torch.module_results  # methods that give the module itself back
    part, outer = node, list(reversed(ancestors(source, node)))[1:]
    taken = False
    while outer:
        match outer[0]:
            case ast.Attribute(value=value, attr=name) if value is part and name in same:
                if len(outer) < 2 or getattr(outer[1], "func", None) is not outer[0]:
                    break
                inner, outer = outer[1], outer[2:]
            case ast.Attribute(value=value) | ast.Subscript(value=value) if value is part:
                if len(outer) > 1 and getattr(outer[1], "func", None) is outer[0]:
                    break  # another method, or a call of the part
                inner, outer, taken = outer[0], outer[1:], True
            case _:
                break
        assert isinstance(inner, ast.expr)
        part = inner
    return part if taken else node
