"""Schema version 4, the first that there is a way from: all tables, as they were then."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = None

_INDEX = {
    "sqlite": (
        "CREATE VIRTUAL TABLE incident_index USING fts5("
        "terms, content='', detail=none, columnsize=0, tokenize=\"ascii tokenchars '_.:-'\")",
        "CREATE TRIGGER incident_index_insert AFTER INSERT ON incident_signature BEGIN"
        " INSERT INTO incident_index (rowid, terms) VALUES (new.position, new.terms); END",
        "CREATE TRIGGER incident_index_delete AFTER DELETE ON incident_signature BEGIN"
        " INSERT INTO incident_index (incident_index, rowid, terms)"
        " VALUES ('delete', old.position, old.terms); END",
    ),
    "postgresql": (
        "ALTER TABLE incident_signature ADD COLUMN lexemes tsvector NOT NULL"
        " GENERATED ALWAYS AS (array_to_tsvector(string_to_array(terms, ' '))) STORED",
        "CREATE INDEX incident_signature_lexemes ON incident_signature USING gin (lexemes)"
        " WITH (fastupdate = off)",
    ),
}


def upgrade() -> None:
    """An empty database becomes one of version 4."""
    op.create_table(
        "cause",
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("prior", sa.Double(), nullable=False),
        sa.Column("gpus", sa.Integer(), nullable=False),
        sa.Column("checks", sa.JSON(), nullable=False),
        sa.Column("edits", sa.String(), nullable=False),
        sa.Column("weights", sa.JSON(), nullable=False),
        sa.Column("example", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("position"),
        sa.UniqueConstraint("id"),
    )
    op.create_table(
        "incident_term",
        sa.Column("term", sa.String(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("term"),
    )
    op.create_table(
        "meta",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "record",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "position"),
    )
    op.create_table(
        "snippet",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "text",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("lang", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "id", "lang"),
    )
    op.create_table(
        "cause_fix",
        sa.Column("cause_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("before", sa.String(), nullable=True),
        sa.Column("after", sa.String(), nullable=True),
        sa.Column("command", sa.String(), nullable=True),
        sa.Column("titles", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["cause_id"], ["cause.id"], initially="DEFERRED", deferrable=True),
        sa.PrimaryKeyConstraint("cause_id", "position"),
    )
    op.create_table(
        "cause_text",
        sa.Column("cause_id", sa.String(), nullable=False),
        sa.Column("lang", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("tell", sa.String(), nullable=False),
        sa.Column("rather", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["cause_id"], ["cause.id"], initially="DEFERRED", deferrable=True),
        sa.PrimaryKeyConstraint("cause_id", "lang"),
    )
    op.create_table(
        "incident",
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("cause_id", sa.String(), nullable=False),
        sa.Column("exception", sa.String(), nullable=True),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("op", sa.String(), nullable=True),
        sa.Column("argument", sa.String(), nullable=True),
        sa.Column("devices", sa.JSON(), nullable=False),
        sa.Column("libraries", sa.JSON(), nullable=False),
        sa.Column("frames", sa.JSON(), nullable=False),
        sa.Column("fixes", sa.JSON(), nullable=False),
        sa.Column("versions", sa.JSON(), nullable=False),
        sa.Column("gpus", sa.Integer(), nullable=False),
        sa.Column("reproduce", sa.String(), nullable=False),
        sa.Column("recorded", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["cause_id"], ["cause.id"], initially="DEFERRED", deferrable=True),
        sa.PrimaryKeyConstraint("position"),
        sa.UniqueConstraint("id"),
    )
    op.create_index("ix_incident_cause_id", "incident", ["cause_id"], unique=False)
    op.create_table(
        "incident_signature",
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("incident_id", sa.String(), nullable=False),
        sa.Column("cause_id", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("frames", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("libraries", sa.String(), nullable=False),
        sa.Column("recorded_frames", sa.String(), nullable=False),
        sa.Column("recorded_message", sa.String(), nullable=False),
        sa.Column("recorded_libraries", sa.String(), nullable=False),
        sa.Column("terms", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["incident_id"], ["incident.id"], initially="DEFERRED", deferrable=True
        ),
        sa.PrimaryKeyConstraint("position"),
        sa.UniqueConstraint("incident_id"),
    )
    op.create_table(
        "incident_source",
        sa.Column("incident_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("supports", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["incident_id"], ["incident.id"], initially="DEFERRED", deferrable=True
        ),
        sa.PrimaryKeyConstraint("incident_id", "position"),
    )
    op.create_table(
        "incident_text",
        sa.Column("incident_id", sa.String(), nullable=False),
        sa.Column("lang", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("saw", sa.String(), nullable=False),
        sa.Column("was", sa.String(), nullable=False),
        sa.Column("mended", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["incident_id"], ["incident.id"], initially="DEFERRED", deferrable=True
        ),
        sa.PrimaryKeyConstraint("incident_id", "lang"),
    )
    for statement in _INDEX[op.get_bind().dialect.name]:
        op.get_bind().exec_driver_sql(statement)
