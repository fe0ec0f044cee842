"""Where the file of a module may lie that a user's own file imports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from diagnose.sources.file import SourceFile
from diagnose.sources.reader import Lines
from diagnose.sources.trees import Tree

_MOST_PARTS = 30
_HIGHEST = 20
#: Libraries after which people name a part of a package: within one, the name means the library.
_LIBRARIES = frozenset(
    {"accelerate", "diffusers", "jax", "lightning", "numpy", "onnx", "tensorflow", "torch"}
    | {"transformers"}
)


def find(
    module: str,
    by: SourceFile,
    level: int,
    beside: Sequence[str],
    trees: Sequence[Tree],
    lines: Callable[[str], Lines | None],
) -> str | None:
    """The path of a module's file, None where there is none.

    Args:
        module: dotted name.
        by: the file that imports it.
        level: dots before the name.
        beside: paths of the files that run with it, `by` first.
        trees: where else to look.
        lines: the lines of the file at a path, None where there is none.
    """
    parts = module.split(".") if module else []
    if len(parts) > _MOST_PARTS or not all(part.isidentifier() for part in parts):
        return None
    if not level and (not parts or parts[0] in sys.stdlib_module_names):
        return None
    bases = _relative(by, level) if level else _absolute(parts[0], beside, trees, lines)
    for base in dict.fromkeys(bases):
        package = base.joinpath(*parts, "__init__.py")
        single = base.joinpath(*parts[:-1], f"{parts[-1]}.py") if parts else package
        for path in (package, single):
            if lines(str(path)) is not None:
                return str(path)
    return None if level or parts[0] in _LIBRARIES else _anywhere(parts, trees)


def _relative(by: SourceFile, level: int) -> Iterator[Path]:
    folder = Path(by.path).parent
    if level <= _HIGHEST:
        for _ in range(level - 1):
            folder = folder.parent if folder.name not in ("", "..") else folder / ".."
        yield folder


def _absolute(
    first: str,
    beside: Sequence[str],
    trees: Sequence[Tree],
    lines: Callable[[str], Lines | None],
) -> Iterator[Path]:
    """The folders that Python looks in, as far as the files tell: the scripts', those above packages."""

    def is_package(folder: Path) -> bool:
        return lines(str(folder / "__init__.py")) is not None

    last = []
    for path in beside:
        folder = Path(path).parent
        package = is_package(folder)
        # In a package Python looks above it, unless the file itself is what was run.
        if not package:
            yield folder
        elif first not in _LIBRARIES:
            last.append(folder)
        for above in islice(folder.parents, _HIGHEST):
            named = first in _LIBRARIES and is_package(above)
            if not named and (package or folder.name == first):
                yield above
            package = package and is_package(above)
            folder = above
    for tree in trees:
        yield from (Path(tree.root), Path(tree.root, "src"))
    yield from last


def _anywhere(parts: Sequence[str], trees: Sequence[Tree]) -> str | None:
    """The only file of the trees whose path ends like the module's name; one word says too little."""
    if len(parts) < 2:
        return None
    endings = ((*parts[:-1], f"{parts[-1]}.py"), (*parts, "__init__.py"))
    found = {
        str(Path(path))
        for tree in trees
        for ending in endings
        for path in tree.ending(ending)
        if tree.agreement(ending, path) == len(ending)
    }
    return found.pop() if len(found) == 1 else None
