"""Which files a check reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from diagnose.sources.trees import SKIPPED

#: Folders within a project that hold other people's code or what a build has made.
_NOT_OWN = (*sorted(SKIPPED), "build", "dist", "__pypackages__", "*.egg-info")
_ENDINGS = (".py", ".ipynb")


def python_files(paths: Sequence[str], excluded: Sequence[str] = ()) -> Iterator[str]:
    """The Python files and notebooks to check, each once: those named, and those within the folders named.

    A file that is named is taken whatever its name. Within folders hidden ones, virtual environments,
    installed and built code are left out, links to folders are not followed, and ``excluded`` are patterns
    of names, or of paths below the folder, that are left out too.
    """
    seen = set[str]()
    for path in paths:
        found = _within(path, excluded) if Path(path).is_dir() else iter([path])
        for file in found:
            if (same := os.path.realpath(file)) not in seen:
                seen.add(same)
                yield file


def _within(root: str, excluded: Sequence[str]) -> Iterator[str]:
    def out(where: str, name: str, patterns: Sequence[str]) -> bool:
        below = Path(os.path.relpath(os.path.join(where, name), root)).as_posix()  # noqa: PTH118
        return any(fnmatch(name, one) or fnmatch(below, one.rstrip("/")) for one in patterns)

    for where, folders, files in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and not out(where, name, (*_NOT_OWN, *excluded))
            and not Path(where, name, "pyvenv.cfg").exists()
        )
        for name in sorted(files):
            wanted = name.endswith(_ENDINGS) and not name.startswith(".")
            if wanted and not out(where, name, excluded):
                path = Path(where, name)
                if path.is_file():  # neither a socket nor a pipe, which would wait for ever
                    yield str(path)
