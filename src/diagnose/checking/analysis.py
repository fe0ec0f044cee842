"""The one place where a check asks the placement analysis, and finds the files that a file imports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from itertools import islice, takewhile
from pathlib import Path

from diagnose import placement
from diagnose.checking.reading import UnreadableError, contents, parsed
from diagnose.model import TorchNames
from diagnose.patterns import in_package
from diagnose.placement import Checked, Source
from diagnose.placement.localization.confidence import DEFAULTS
from diagnose.sources import SourceFile, read_file
from diagnose.sources.imports import find
from diagnose.sources.reader import Lines, UnusableError

#: Files that one file is followed into: a large package would be run whole for each of its files.
_MOST = 8
#: So many files of a package are searched for one that goes by a device.
_OF_PACKAGE = 400
_PLACES = rb"\.to\((?:\w+\.)*device\b|\.cuda\("
#: How a program asks whether there is a GPU.
_ASKS = rb"\bcuda\.is_available\("
_DEFAULTS = re.compile(rf"\b({'|'.join(DEFAULTS)})\(".encode())


def checked(
    source: Source, torch: TorchNames, texts: Mapping[str, str]
) -> tuple[Checked, Sequence[str]]:
    """What the analysis suspects of a file.

    Args:
        source: the file.
        torch: what torch and its libraries call their things.
        texts: files as they would be, by path, in place of those on disk.

    Returns:
        The suspects, and the files that were read for them (`CheckedFile.read`).
    """
    followed, searched = set[str](), list[str]()

    @cache  # a program is followed several times, and asks for its imports each time
    def lines(path: str) -> Lines | None:
        if path == source.path:
            return tuple(source.lines)
        if path in texts:
            return tuple(texts[path].split("\n"))
        return _lines(path) if in_package(path) is None else None

    @cache
    def path_of(module: str, level: int, by: str) -> str | None:
        return find(module, SourceFile(by, by, ()), level, (by, source.path), (), lines)

    def imported(module: str, level: int, by: Source) -> Source | None:
        path = path_of(module, level, by.path)
        if path is None or len(followed | {path}) > _MOST or (found := lines(path)) is None:
            return None
        followed.add(path)
        return _source(path, found)

    @cache
    def beside(pattern: bytes) -> Source | None:
        package = _package_of(source.path)
        searched.extend([f"{package}/"] if package is not None else [])
        return _saying(package, pattern)

    placing, asking = partial(beside, _PLACES), partial(beside, _ASKS)
    said = placement.check(source, torch, imported, placing, asking)
    return said, (*sorted(followed), *dict.fromkeys(searched))


def evidence_in(package: str) -> tuple[str, ...]:
    """The paths of the files in a package's folder that say where it runs."""
    found = (_saying(Path(package), pattern) for pattern in (_PLACES, _ASKS))
    return tuple(one.path for one in found if one is not None)


def _package_of(path: str) -> Path | None:
    """The outermost folder with an ``__init__.py`` around a file; None where it is of no package."""
    around = takewhile(lambda one: (one / "__init__.py").is_file(), Path(path).absolute().parents)
    return min(around, key=lambda one: len(one.parts), default=None)


@lru_cache(maxsize=64)
def _saying(package: Path | None, pattern: bytes) -> Source | None:
    """The first file of a package that holds what a pattern matches."""
    files = package.rglob("*.py") if package is not None else ()
    for path in sorted(islice(files, _OF_PACKAGE)):
        with suppress(UnreadableError, UnusableError):
            if re.search(pattern, contents(str(path))):
                return _source(str(path), read_file(str(path)))
    return None


def sets_a_default(path: str) -> bool:
    """Whether a file calls what sets where torch makes tensors; none does that cannot be checked."""
    try:
        return _DEFAULTS.search(contents(path)) is not None
    except UnreadableError:
        return False


def _lines(path: str) -> Lines | None:
    """The lines of a file, read once as long as it does not change; None where none can be used."""
    try:
        return _read(path, Path(path).stat().st_mtime_ns)
    except (OSError, ValueError, UnusableError):
        return None


@lru_cache(maxsize=1024)
def _read(path: str, changed: int) -> Lines | None:
    return read_file(path)


@lru_cache(maxsize=256)
def _source(path: str, lines: Lines) -> Source | None:
    """An imported file, parsed once for all that import it; None where it is no Python 3."""
    try:
        return parsed(path, "\n".join(lines))
    except UnreadableError:
        return None
