"""What tells one state of kb/ from another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

#: The files of kb/ that a case base is compiled from.
SUFFIXES = frozenset({".toml", ".py", ".txt"})


def digest(kb: Path) -> str:
    """A SHA-256 over the names and contents of kb/'s files: equal digests, equal case bases."""
    paths = sorted(p for p in kb.rglob("*") if p.suffix in SUFFIXES and p.is_file())
    return digest_of((path.relative_to(kb).as_posix(), path.read_bytes()) for path in paths)


def digest_of(files: Iterable[tuple[str, bytes]]) -> str:
    """The same of files that were read: names relative to kb/ and contents, sorted as paths are."""
    total = hashlib.sha256()
    for name, content in files:
        total.update(name.encode() + b"\0" + content + b"\0")
    return total.hexdigest()
