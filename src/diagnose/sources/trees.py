"""Files to look in: a folder that somebody names, or what came with a request."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from diagnose.errors import DiagnoseError
from diagnose.patterns import INSTALLED_FOLDERS
from diagnose.sources.reader import LARGEST, Lines, UnusableError, decoded, read_file

#: Python files of a folder that are known, and names of any kind that are looked at.
_MOST_FILES = 20_000
_MOST_NAMES = 200_000
#: Folders of other people's code; those that begin with a dot are not looked into either.
SKIPPED = INSTALLED_FOLDERS | {"node_modules", "__pycache__"}
#: Stands in the folder of a virtual environment.
_ENVIRONMENT = "pyvenv.cfg"


class Tree:
    """Python files that may be looked for by the end of their path.

    ``root`` is what all paths begin with, "" where they are relative to nothing. ``complete`` is false
    where there were too many files to know them all.
    """

    root: str = ""
    complete: bool = True

    def lines(self, path: str) -> Lines | None:
        """The lines of a file; None where there is none.

        Raises:
            UnusableError: it is there and cannot be used.
        """
        raise NotImplementedError

    def ending(self, parts: tuple[str, ...]) -> list[str]:
        """The paths whose last component is that of ``parts``, those that share most with its end first."""
        found = self._by_name.get(parts[-1], []) if parts else []
        return sorted(found, key=lambda path: -self.agreement(parts, path))

    def agreement(self, parts: tuple[str, ...], path: str) -> int:
        """How many components at its end a file of the tree shares with a path of anywhere."""
        return shared(parts, components(path))

    def _paths(self) -> Iterator[str]:
        raise NotImplementedError

    @cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._paths():
            found.setdefault(components(path)[-1], []).append(path)
        return found


class Folder(Tree):
    """The Python files in a folder, or one file; what lies there is listed when it is first asked for.

    Links to folders are not followed, hidden folders, environments and installed packages left out.
    """

    def __init__(self, root: str) -> None:
        """Raises DiagnoseError where there is no such file or folder."""
        if not Path(root).exists():
            raise DiagnoseError(f"{root}: there is no such file or folder to read source from")
        self.root = root

    def lines(self, path: str) -> Lines | None:  # noqa: D102
        return read_file(path)

    def agreement(self, parts: tuple[str, ...], path: str) -> int:  # noqa: D102
        return shared(parts, components(str(Path(path).absolute())))

    def _paths(self) -> Iterator[str]:
        if Path(self.root).is_file():
            yield self.root
            return
        waiting, names, files = [self.root], 0, 0
        for folder in waiting:  # breadth first: a person's own code stands near the top
            try:
                with os.scandir(folder) as entries:
                    inside = sorted(entries, key=lambda entry: entry.name)
            except OSError:
                continue
            if folder != self.root and any(entry.name == _ENVIRONMENT for entry in inside):
                continue
            for entry in inside:
                names += 1
                if names > _MOST_NAMES or files >= _MOST_FILES:
                    self.complete = False
                    return
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in SKIPPED:
                        waiting.append(entry.path)
                elif entry.name.endswith(".py"):
                    files += 1
                    yield entry.path


class Given(Tree):
    """Files that came with a request, by their names there; nothing of the disk."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        """``files``: contents by name, whose components are separated by slashes of either kind."""
        self._files = {"/".join(components(name)): content for name, content in files.items()}
        self._files.pop("", None)

    def lines(self, path: str) -> Lines | None:  # noqa: D102
        content = self._files.get("/".join(components(path)))
        if isinstance(content, bytes):
            return decoded(content)
        if content is not None and len(content) > LARGEST:
            raise UnusableError("large")
        return None if content is None else tuple(content.split("\n"))

    def _paths(self) -> Iterator[str]:
        yield from self._files


def components(path: str) -> tuple[str, ...]:
    """The components of a path of any system, as they are written."""
    return tuple(part for part in path.replace("\\", "/").split("/") if part not in ("", "."))


def shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many components two paths share at their end; ``..`` is like nothing."""
    count = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b or a == "..":
            break
        count += 1
    return count
