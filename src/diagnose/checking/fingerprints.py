"""What a finding is known by from one version of a file to the next."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from diagnose.checking.model import Finding


def relative(path: str) -> str:
    """A path as it stands below the working directory, with slashes; one outside of it whole."""
    below = os.path.relpath(path)
    return Path(path).resolve().as_posix() if below.startswith("..") else Path(below).as_posix()


def fingerprinted(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in their order, each with its fingerprint.

    It is made of the rule, the file, the function and the line without its blanks, not of the line's
    number; what is equal in all of these is numbered.
    """
    seen = Counter[tuple[str, ...]]()
    marked = []
    for finding in sorted(findings, key=lambda one: one.order):
        place = finding.place
        code = " ".join(place.code.split())
        key = (finding.id, relative(place.file), place.function or "", code)
        seen[key] += 1
        text = "\0".join((*key, str(seen[key])))
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        marked.append(finding._replace(fingerprint=digest[:32]))
    return marked
