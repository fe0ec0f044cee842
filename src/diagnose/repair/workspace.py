"""A copy of the user's files, made anew for each run: what a program writes lands there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from diagnose.checking.notebook import Cells
from diagnose.errors import DiagnoseError
from diagnose.repair.notebooks import code_of, written
from diagnose.repair.patch import Patch, patch_of

#: What no program needs of its folder, by name.
_LEFT_OUT = frozenset({".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", ".tox"})
#: Bytes that are copied; larger files come in as links then, and may only be read.
_COPIED = 1_000_000_000
#: Files that a folder may hold.
_MOST = 20_000
#: So many Python files of a program are searched for GPUs.
FILES = 200


class _Entry(NamedTuple):
    path: str
    target: Path
    copied: bool


class Workspace:
    """A folder in which a program runs as if it were in the user's.

    Args:
        origin: the folder with the user's files.
        home: an empty folder for the copies.
        notebooks: files that are run as the text of their code cells.

    Raises:
        DiagnoseError: the folder holds too many files, or a notebook is none.
    """

    def __init__(self, origin: Path, home: Path, notebooks: Collection[str] = ()) -> None:
        self.origin = origin
        self._kept = home / "kept"
        #: Always at the same place, so that two runs print the same paths.
        self.folder = home / "run" / (origin.name or "root")
        #: What torch compiles in one run, and takes in the next.
        self.compiled = home / "compiled"
        self._entries = list(_entries(origin))
        for entry in self._entries:
            if entry.copied:
                path = self._kept / entry.path
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(entry.target, path)
        self._texts: Mapping[str, str] = {}
        self._documents: dict[str, Cells] = {}
        for entry in self._entries:
            if entry.path in notebooks:
                kept = self._kept / entry.path
                code = self._documents[entry.path] = code_of(kept.read_bytes(), entry.path)
                kept.write_text(code.text, encoding="utf-8")
        #: Large files of the user's that are linked to, and their state.
        self._linked = {e.target: _state(e.target) for e in self._entries if not e.copied}

    def fresh(self, texts: Mapping[str, str]) -> Path:
        """Lays the files out as they were, but for those with another text; returns the folder."""
        shutil.rmtree(self.folder.parent, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.compiled.mkdir(exist_ok=True)
        self._texts = texts
        for entry in self._entries:
            self._lay(entry)
        return self.folder

    def _lay(self, entry: _Entry) -> None:
        path = self.folder / entry.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.path in self._texts:
            path.write_bytes(self._texts[entry.path].encode("utf-8", "surrogateescape"))
        elif entry.copied:
            shutil.copy2(self._kept / entry.path, path)
        elif entry.target.is_relative_to(self.origin.resolve()) and entry.target.is_dir():
            path.symlink_to(self.folder / entry.target.relative_to(self.origin.resolve()))
        else:
            path.symlink_to(entry.target)

    def restore(self) -> None:
        """Gives the Python files that the program has written to, since it began, the text that ran."""
        for entry in self._entries:
            path = self.folder / entry.path
            own = entry.copied and entry.path.endswith(".py")
            if own and _state(path) != _state(self._kept / entry.path):
                with suppress(OSError):
                    self._lay(entry)

    def text(self, path: str) -> str:
        """The text of a file as it was at the beginning. Raises OSError where there is none."""
        return (self._kept / path).read_bytes().decode("utf-8", "surrogateescape")

    def patches(self, texts: Mapping[str, str]) -> dict[str, Patch]:
        """Edited files, each beside what it was at the beginning."""
        return {file: patch_of(self.text(file), text) for file, text in texts.items()}

    def sources(self, most: int) -> Iterator[tuple[str, str]]:
        """The Python files, notebooks' code too, with their texts; ``most`` of them."""
        paths = [e.path for e in self._entries if e.copied and e.path.endswith((".py", ".ipynb"))]
        for path in paths[:most]:
            if path.endswith(".py") or path in self._documents:
                yield path, self.text(path)

    def document(self, path: str) -> str:
        """The user's own file: the whole notebook, where ``text`` is its code."""
        code = self._documents.get(path)
        return self.text(path) if code is None else code.document

    def edited(self, path: str, text: str) -> str | None:
        """The user's own file with another text; None where that fits into no cell of a notebook."""
        code = self._documents.get(path)
        return text if code is None else written(code, text)

    def path_of(self, file: str) -> str | None:
        """A file of a run as a path from the folder, None for what is not the user's."""
        try:
            path = Path(file).resolve().relative_to(self.folder.resolve()).as_posix()
        except ValueError:
            return None
        return path if (self._kept / path).is_file() else None

    def told(self, text: str) -> str:
        """A text in which paths of a run, which may lack their beginning, are as seen from the folder."""
        parts = self.folder.as_posix().split("/")
        for first in range(len(parts)):
            text = text.replace(f" {'/'.join(parts[first:])}/", " ")
        return text

    def altered(self) -> list[Path]:
        """Linked files of the user's that are not as they were."""
        return [path for path, state in self._linked.items() if _state(path) != state]


def _entries(origin: Path) -> Iterator[_Entry]:
    left, count = _COPIED, 0
    for folder, names, files in os.walk(origin, followlinks=False):
        linked = [name for name in names if Path(folder, name).is_symlink()]
        names[:] = sorted(
            name
            for name in names
            if name not in _LEFT_OUT
            and name not in linked
            and not Path(folder, name, "pyvenv.cfg").exists()
        )
        for name in [*sorted(files), *linked]:
            path = Path(folder, name)
            count += 1
            if count > _MOST:
                raise DiagnoseError(
                    f"{origin} holds more than {_MOST:,} files, too many to copy: run it in the"
                    " folder of the script"
                )
            if path.is_dir():
                yield _Entry(str(path.relative_to(origin)), path.resolve(), copied=False)
            elif path.is_file():  # no socket, no broken link
                size = path.stat().st_size
                copied = size <= left
                left -= size if copied else 0
                yield _Entry(str(path.relative_to(origin)), path.resolve(), copied)


def _state(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (-1, 0)
    return (found.st_size, found.st_mtime_ns)
