"""Compiles kb/ into the SQLite file that the package reads."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from diagnose.casebase.schema import Base
from diagnose.casebase.source import read
from diagnose.kberror import KbError


class InvalidKbError(Exception):
    """kb/ has mistakes; ``problems`` lists them all."""

    def __init__(self, problems: tuple[KbError, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def build(kb: Path, target: Path) -> int:
    """Compiles the folder ``kb`` into ``target``, which is replaced in one step or not at all.

    Returns:
        The number of rows written.

    Raises:
        InvalidKbError: the source has mistakes; nothing is written.
    """
    source = read(kb)
    if source.problems:
        raise InvalidKbError(source.problems)
    with _replacing(target) as unfinished:
        engine = create_engine(f"sqlite:///{unfinished}")
        Base.metadata.create_all(engine)
        with Session(engine) as session:
            session.add_all(source.rows)
            session.commit()
        engine.dispose()
    return len(source.rows)


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """A temporary file beside ``target`` that takes its place when the block ends well."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(0o644)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
