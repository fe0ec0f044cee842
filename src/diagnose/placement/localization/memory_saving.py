"""What a program leaves on the host to save memory, by what it calls that."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from diagnose.placement.model import Source
from diagnose.placement.semantics import nodes
from diagnose.placement.tensors import Module

_LOW_MEMORY = re.compile(
    r"low_?(v?ram|mem)|med_?vram|offload|keep_?on_?cpu|save_?memory", re.IGNORECASE
)


def saving_of(source: Source) -> str | None:
    """The cause of what a program leaves on the host to save memory, by what it calls that; None where it
    does not."""
    return _saving(tuple(source.lines))


@lru_cache(maxsize=8)
def switch_of(tree: ast.Module) -> str | None:
    """The cause of what a program leaves where it was built to save memory: it asks whether to."""
    return _saving(tuple(ast.unparse(one.test) for one in nodes(tree, ast.If, ast.IfExp)))


def streamed(module: Module) -> str | None:
    """The cause of what a class leaves where it was built to save memory, if it says so itself."""
    classes = (one.made for one in module.owners() if one.made is not None)
    said = (f"{made.node.name} {ast.get_docstring(made.node) or ''}" for made in classes)
    return _saving(tuple(said))


@lru_cache(maxsize=8)
def _saving(lines: tuple[str, ...]) -> str | None:
    found = _LOW_MEMORY.search("\n".join(lines))
    if found is None:
        return None
    return "offloaded-to-cpu" if "offload" in found[0].casefold() else "low-memory-mode"
