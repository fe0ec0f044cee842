"""Keeps a program from writing to files that are not its copies."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from diagnose.repair.runs.landlock import restrict

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Audit events of calls that change files, with the positions of their paths.
_CHANGES = {
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.truncate": (0,),
    "os.mkdir": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.chmod": (0,),
    "os.utime": (0,),
    "shutil.rmtree": (0,),
    "shutil.move": (0, 1),
    "shutil.copyfile": (1,),
    "sqlite3.connect": (0,),
}
#: A data base that is only read.
_READS = re.compile(r"file:.*\bmode=ro\b")
#: Folders of caches and settings, in which libraries write of themselves.
_CACHES = (".cache", ".config", ".triton", ".nv", ".local/share")
_SYSTEM = ("/dev", "/proc")


def protect(folders: Sequence[Path], origin: Path) -> None:
    """From now on this process writes only below ``folders``, and to temporary files and caches.

    Python's own calls are refused with a sentence, and torch's and safetensors' writers; what else there is
    the kernel refuses, where it can (`landlock`).

    Args:
        folders: where it may write.
        origin: the user's files: never, even if they lie among temporary ones.
    """
    free = [*folders, Path(tempfile.gettempdir()), *(Path.home() / name for name in _CACHES)]
    allowed = tuple(_real(path) for path in (*map(str, free), *_caches(), *_SYSTEM))
    own, user = tuple(_real(path) for path in folders), _real(origin)

    def refuse(path: Any) -> None:
        if isinstance(path, int) or not isinstance(path, str | bytes | os.PathLike):
            return
        name = os.fsdecode(path)
        if name in (":memory:", "") or _READS.match(name):
            return
        real = _real(name)
        if _below(real, own) or (_below(real, allowed) and not _below(real, (user,))):
            return
        raise PermissionError(
            f"diagnose fix lets the program write only to copies, and this is none: {name}"
            " (--writable DIR allows it)"
        )

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = any(c in mode for c in "wax+") if isinstance(mode, str) else flags & _WRITES
            if writes:
                refuse(path)
        elif event in _CHANGES:
            for position in _CHANGES[event]:
                refuse(arguments[position])

    _compiled_writers(refuse)
    for cache in (Path.home() / _CACHES[0], *map(Path, _caches())):
        with contextlib.suppress(OSError):
            cache.mkdir(parents=True, exist_ok=True)  # a library may want to make it
    restrict(own, allowed, never=user)
    sys.addaudithook(hook)


def _real(path: str | os.PathLike[str]) -> str:
    return os.path.realpath(path)


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _caches() -> list[str]:
    names = ("HF_HOME", "TORCH_HOME", "XDG_CACHE_HOME", "TRITON_CACHE_DIR", "MPLCONFIGDIR")
    return [os.environ[name] for name in names if os.environ.get(name)]


def _compiled_writers(refuse: Callable[[Any], None]) -> None:
    """Writers of files in compiled code, which no audit event tells of."""
    import torch

    _before(torch.serialization, "_open_zipfile_writer", refuse)
    safetensors: Any = sys.modules.get("safetensors.torch")
    if safetensors is not None:
        _before(safetensors, "serialize_file", lambda *a: refuse(a[1]))


def _before(owner: Any, name: str, look: Callable[..., None]) -> None:
    original = getattr(owner, name)

    def looked(*args: Any, **kwargs: Any) -> Any:
        look(*args)
        return original(*args, **kwargs)

    setattr(owner, name, looked)
