"""The files of a tree of a repository's history, laid out in a folder."""

from __future__ import annotations

import contextlib
import subprocess
import tarfile
from pathlib import Path


def extracted(git: Path, tree: str, folder: Path, end: str = "py") -> bool:
    """Writes the files of a tree whose names end so; whether git had all of them.

    Args:
        git: a git directory.
        tree: a commit.
        folder: where to; there already.
        end: without the dot.
    """
    command = ["git", "-C", str(git), "archive", tree, "--", f":(glob)**/*.{end}"]
    made = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert made.stdout is not None
    with (
        contextlib.suppress(tarfile.TarError),
        tarfile.open(fileobj=made.stdout, mode="r|") as files,
    ):
        files.extractall(folder, filter="data")
    made.stdout.close()
    return made.wait() == 0
