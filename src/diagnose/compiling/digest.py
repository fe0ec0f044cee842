"""What tells one state of kb/ from another."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest(kb: Path) -> str:
    """A SHA-256 over the names and contents of kb/'s files: equal digests, equal case bases."""
    total = hashlib.sha256()
    kinds = {".toml", ".py", ".txt"}
    for path in sorted(p for p in kb.rglob("*") if p.suffix in kinds and p.is_file()):
        total.update(path.relative_to(kb).as_posix().encode() + b"\0")
        total.update(path.read_bytes() + b"\0")
    return total.hexdigest()
