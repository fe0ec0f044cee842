"""What a class is built on, by its file alone: a base of another file may move what the class keeps."""

from __future__ import annotations

import ast
from functools import lru_cache

from diagnose.placement.localization.context import classes_of
from diagnose.placement.model import Spot
from diagnose.placement.semantics import nodes

#: Packages whose classes move no more than their own: Python's, and libraries that are known.
MOVING_NOTHING = frozenset(
    {"object", "ABC", "abc", "typing", "Generic", "Protocol", "NamedTuple", "Exception"}
    | {"torch", "transformers", "trl", "lightning", "pytorch_lightning", "sentence_transformers"}
    | {"adapters", "diffusers", "gpytorch", "monai", "peft", "timm", "torch_geometric"}
    | {"torchmetrics", "torchvision"}
)


def is_built_on_others(spot: Spot) -> bool:
    """Whether the class that a place is in is built on one of another file, of no package that is known."""
    owner = (spot.function or "").rpartition(".")[0].rpartition(".")[2]
    return _on_others(spot.source.tree, owner) if owner else False


@lru_cache(maxsize=64)
def _on_others(tree: ast.Module, name: str) -> bool:
    classes, origins = classes_of(tree), _imported(tree)
    waiting, seen = [name], set[str]()
    while waiting:
        one = waiting.pop()
        if one in seen or one not in classes:
            continue
        seen.add(one)
        for base in classes[one][-1].bases:
            root = ast.unparse(base).partition("[")[0].partition(".")[0]
            if root in classes:
                waiting.append(root)
            elif root in origins and origins[root] not in MOVING_NOTHING:
                return True
    return False


@lru_cache(maxsize=8)
def _imported(tree: ast.Module) -> dict[str, str]:
    """The names that a file imports, and the packages that they are of; of its own the dots."""
    found: dict[str, str] = {}
    for one in nodes(tree, ast.Import, ast.ImportFrom):
        for alias in one.names:
            whole = alias.name
            if isinstance(one, ast.ImportFrom):
                whole = "." if one.level else one.module or ""
            package = whole if whole == "." else whole.partition(".")[0]
            found[alias.asname or alias.name.partition(".")[0]] = package
    return found
