"""Brings a database of an older schema version to today's, with Alembic (the extra ``server``).

A revision's id is the schema version that it makes; the database keeps its own version in a table of its
own, so there is one count of versions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from diagnose.installation import needs

if TYPE_CHECKING:
    from sqlalchemy import Connection


def migrate(connection: Connection, versions: Path, version: int | None, to: str = "head") -> None:
    """Runs the revisions after ``version`` up to ``to``, in the transaction that ``connection`` is in; on
    an empty database, which has no version, from the first.

    Args:
        connection: to the database.
        versions: the folder of the revisions.
        version: which one the database has.
        to: the version that is wanted; the latest by default.

    Raises:
        ImportError: Alembic is not installed.
        SQLAlchemyError: a revision failed; the transaction has to be rolled back.
    """
    try:
        from alembic import command
        from alembic.config import Config
    except ImportError as error:
        raise ImportError(needs("Alembic", "server"), name="alembic") from error
    config = Config()
    # Interpolation would take a percent sign in a path for its own; a blank would divide it.
    for option, path in (
        ("script_location", Path(__file__).parent),
        ("version_locations", versions),
    ):
        config.set_main_option(option, str(path).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    config.attributes["connection"] = connection
    command.stamp(config, str(version) if version else "base", purge=True)
    command.upgrade(config, to)
