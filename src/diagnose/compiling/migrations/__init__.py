"""Brings a team's database of an older schema version to today's, with Alembic (the extra ``server``).

A revision's id is the schema version that it makes, and ``meta`` keeps the version that a database has:
there is one count of versions. A change of `diagnose.casebase.schema` that raises ``VERSION`` comes with
``versions/schema_N.py``. Causes, rules and texts are written whole with every `diagnose kb publish`; a
revision has to keep the incidents.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

from diagnose.installation import needs

#: The oldest version that there is a way from.
OLDEST = 4


def migrate(connection: Connection, version: int | None) -> None:
    """Runs the revisions after ``version``, in the transaction that ``connection`` is in; all of them on an
    empty database, which has none.

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
    # Interpolation would take a percent sign in the path for its own.
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.stamp(config, str(version) if version else "base", purge=True)
    command.upgrade(config, "head")
