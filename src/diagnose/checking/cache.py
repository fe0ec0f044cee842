"""What checks have found in files that have not changed since, nor what they were followed into: JSON below
the user's folder for caches, where no repository that is checked can put a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from diagnose.casebase.store import load
from diagnose.checking.analysis import evidence_in
from diagnose.checking.model import CheckedFile, Options
from diagnose.checking.reading import UnreadableError, contents
from diagnose.outputs import replacing

#: So many sets of files and options are kept, the latest.
_MOST = 20
_PACKAGE = Path(__file__).parents[1]


class Cache:
    """What an earlier check has found with the same options, code, case base, folder and names of files.
    What cannot be read or written of it is as if it were not there."""

    def __init__(self, paths: Sequence[str], options: Options, *, defaulted: bool) -> None:
        self._file = Path(os.devnull)
        self._digests: dict[str, str] = {}
        self._kept: Any = {}
        with suppress(OSError, ValueError):
            state = (
                max(one.stat().st_mtime_ns for one in _PACKAGE.rglob("*.py")),
                load(lang=options.lang).digest,
                sys.version_info[:2],
                (sorted(options.rules), options.likely, options.lang, defaulted),
                str(Path.cwd()),
                sorted(paths),
            )
            self._file = _folder() / f"{_digest(repr(state).encode())}.json"
            self._kept = json.loads(self._file.read_bytes())

    def of(self, path: str) -> CheckedFile | None:
        """What is known of a file that has not changed, nor what it was followed into."""
        self._now(path)  # as it is before anybody reads it
        with suppress(AttributeError, LookupError, TypeError, ValueError):
            kept = self._kept[path]
            if all(self._now(one) == was for one, was in kept["read"].items()):
                found: CheckedFile = _decoded(CheckedFile, kept["found"])
                return found
        return None

    def keep(self, files: Iterable[CheckedFile]) -> None:
        """Writes what is known of files now."""
        kept = {
            one.path: {
                "read": {name: self._now(name) for name in (one.path, *one.read)},
                "found": one,
            }
            for one in files
            if not one.problem and not one.faults
        }
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self._file) as unfinished:
                unfinished.write_text(json.dumps(kept), encoding="utf-8")
            known = sorted(self._file.parent.glob("*.json"), key=lambda one: one.stat().st_mtime)
            for one in known[:-_MOST]:
                one.unlink()

    def _now(self, path: str) -> str:
        """What a file holds, as a digest; of a folder, what in it goes by a device."""
        if path not in self._digests:
            try:
                files = evidence_in(path) if path.endswith("/") else (path,)
                self._digests[path] = " ".join(_digest(contents(one)) for one in files)
            except (OSError, UnreadableError):
                self._digests[path] = ""
        return self._digests[path]


def _folder() -> Path:
    folder = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(folder or Path.home() / ".cache", "diagnose", "check")
    except RuntimeError:  # nobody's home is known
        return Path(os.devnull)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _decoded(kind: Any, data: Any) -> Any:
    """A value of a type that stands in JSON: a named tuple as a list of its fields.

    Raises:
        LookupError, TypeError, ValueError: it is of another type.
    """
    if not isinstance(data, list):
        return data
    if get_origin(kind) is tuple:
        return tuple(_decoded(get_args(kind)[0], one) for one in data)
    made: Any = next((one for one in (kind, *get_args(kind)) if hasattr(one, "_fields")), None)
    fields = zip(get_type_hints(made).values(), data, strict=True)
    return made(*(_decoded(hint, one) for hint, one in fields))
