"""Which files a scan reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

#: Files that are no logs, by name: they would be opened only to be refused.
_NO_LOGS = (
    "*.safetensors", "*.bin", "*.pt", "*.pth", "*.ckpt", "*.npy", "*.npz", "*.pkl", "*.parquet", "*.arrow",
    "*.onnx", "*.gguf", "*.h5", "*.so", "*.pyc", "*.png", "*.jpg", "*.jpeg", "*.mp4", "*.zip", "*.tar",
    "*.tar.gz", "*.tgz", "*.whl", "*.tfevents.*", "events.out.*", "*.distcp",
)  # fmt: skip


def logs(paths: Sequence[str], globs: Sequence[str] = ()) -> Iterator[tuple[str, int]]:
    """The files to scan with their sizes: those named, and those within the folders named.

    Files named are taken as they are. Within folders hidden files, links to folders and files that are no
    logs by their names are left out; ``globs``, if any, choose by the name. A path that is neither is
    yielded with size 0, so that reading it tells why.
    """
    for path in paths:
        if path != "-" and Path(path).is_dir():
            yield from _within(path, globs)
        else:
            yield path, _size(path)


def _within(folder: str, globs: Sequence[str]) -> Iterator[tuple[str, int]]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if globs:
                wanted = any(fnmatch(name, glob) for glob in globs)
            else:
                wanted = not name.startswith(".") and not any(fnmatch(name, no) for no in _NO_LOGS)
            path = Path(where, name)
            if wanted and path.is_file():  # neither a socket nor a pipe, which would wait for ever
                yield str(path), _size(str(path))


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
