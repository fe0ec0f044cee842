"""The project's own knowledge, and `parse` with it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import diagnose.parsing
from diagnose.compiling.kbfiles import load_families, load_libraries, load_wordings
from diagnose.model import FamilyRule, Knowledge, Library, Report, Wording

KB = Path(__file__).resolve().parents[2] / "kb"


@cache
def wordings() -> tuple[Wording, ...]:
    return load_wordings(KB / "messages.toml")


@cache
def libraries() -> tuple[Library, ...]:
    return load_libraries(KB / "libraries.toml")


@cache
def families() -> tuple[FamilyRule, ...]:
    return load_families(KB / "families.toml")


@cache
def knowledge() -> Knowledge:
    return Knowledge(wordings=wordings(), libraries=libraries(), families=families())


def parse(data: bytes | str, source: str = "-") -> Report:
    return diagnose.parsing.parse(data, source, knowledge=knowledge())
