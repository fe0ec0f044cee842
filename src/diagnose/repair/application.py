"""Putting a patch into the user's files, with a backup of each."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from diagnose.errors import DiagnoseError
from diagnose.repair.workspace import Workspace

#: What is behind the name of a file as it was.
BACKUP = ".orig"


def apply(workspace: Workspace, texts: Mapping[str, str]) -> list[Path]:
    """Writes edited files over the user's; each as it was stays beside it. All are written or none.

    Args:
        workspace: what was read of the files at the beginning.
        texts: the edited files by their paths from the folder.

    Returns:
        The backups.

    Raises:
        DiagnoseError: a file has changed since, or has changes that git does not hold, or a backup is
            there already.
        OSError: a file cannot be written; those written before are put back.
    """
    targets = {workspace.origin / file: text for file, text in texts.items()}
    for (file, _), target in zip(texts.items(), targets, strict=True):
        _refuse_changed(workspace, file, target)
    written: list[Path] = []
    try:
        for target, text in targets.items():
            shutil.copy2(target, _backup(target))
            written.append(target)
            _replace(target, text)
    except OSError:
        for target in written:
            _backup(target).replace(target)
        raise
    return [_backup(target) for target in targets]


def _backup(target: Path) -> Path:
    return target.with_name(target.name + BACKUP)


def _refuse_changed(workspace: Workspace, file: str, target: Path) -> None:
    now = target.read_bytes().decode("utf-8", "surrogateescape")
    if now != workspace.document(file):
        raise DiagnoseError(f"{target} has changed since it was read; nothing was written")
    if _backup(target).exists():
        raise DiagnoseError(f"{_backup(target)} is there already; nothing was written")
    if _is_dirty(target):
        raise DiagnoseError(
            f"{target} has changes that are not committed; nothing was written"
            " (--output FILE writes the diff instead)"
        )


def _is_dirty(target: Path) -> bool:
    """Whether git, where it knows the file, holds another version of it."""
    git = shutil.which("git")
    if git is None:
        return False
    run = subprocess.run(
        [git, "status", "--porcelain", "--untracked-files=no", "--", target.name],
        cwd=target.parent,
        capture_output=True,
        text=True,
    )
    return run.returncode == 0 and bool(run.stdout.strip())


def _replace(target: Path, text: str) -> None:
    """Writes a file whole or not at all, with the rights that it had."""
    number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(number, "wb") as stream:
            stream.write(text.encode("utf-8", "surrogateescape"))
        shutil.copymode(target, name)
        Path(name).replace(target)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
