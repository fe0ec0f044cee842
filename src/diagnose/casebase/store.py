"""Opens the compiled case base read-only, with nothing but the standard library.

Importing SQLAlchemy takes longer than a whole diagnosis; the command line therefore reads with
sqlite3 what `schema` and `build` wrote through SQLAlchemy. tests/casebase hold the two together.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from diagnose.model import (
    Cause,
    FactRule,
    FamilyRule,
    FixTemplate,
    Incident,
    Lang,
    Library,
    Source,
    Wording,
)

#: Must equal `diagnose.casebase.schema.VERSION`.
SCHEMA_VERSION = "1"


class CasebaseError(Exception):
    """The case base cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Casebase:
    """The case base in one language, in memory."""

    lang: Lang
    wordings: tuple[Wording, ...]
    libraries: tuple[Library, ...]
    families: tuple[FamilyRule, ...]
    causes: Mapping[str, Cause]
    incidents: Mapping[str, Incident]
    operands: Mapping[str, Mapping[str, str]]
    facts: Mapping[str, FactRule]
    fixes: Mapping[str, str]
    snippets: Mapping[str, str]
    digest: str


def default_path() -> Path:
    """The compiled file that came with the package, or $DIAGNOSE_CASEBASE."""
    override = os.environ.get("DIAGNOSE_CASEBASE")
    return Path(override) if override else Path(__file__).parents[1] / "casebase.sqlite"


@lru_cache(maxsize=4)
def load(path: Path | None = None, lang: Lang = "en") -> Casebase:
    """Reads the whole case base in one go; the result is cached.

    Raises:
        CasebaseError: the file is missing, damaged or of another schema version.
    """
    path = path or default_path()
    if not path.is_file():
        raise CasebaseError(
            f"the case base {path} is missing: run `diagnose cases build`, or reinstall diagnose"
        )
    try:
        # immutable: no lock files, so that it opens on read-only and network file systems too.
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            return _read(connection, lang)
    except (sqlite3.Error, KeyError, TypeError, ValueError) as error:
        raise CasebaseError(f"the case base {path} cannot be read: {error}") from error


def _read(connection: sqlite3.Connection, lang: Lang) -> Casebase:
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    if meta.get("schema") != SCHEMA_VERSION:
        raise ValueError(
            f"schema version {meta.get('schema')}, this diagnose reads version {SCHEMA_VERSION}; "
            "run `diagnose cases build`"
        )
    texts = _texts(connection, lang)
    return Casebase(
        lang=lang,
        wordings=tuple(Wording(**row) for _, row in _records(connection, "wording")),
        libraries=tuple(Library(**row) for _, row in _records(connection, "library")),
        families=tuple(FamilyRule(**row) for _, row in _records(connection, "family")),
        operands=dict(_records(connection, "operands")),
        facts={
            key: FactRule(key, texts["fact"][key], **row)
            for key, row in _records(connection, "fact")
        },
        causes={cause.id: cause for cause in _causes(connection, lang)},
        incidents={incident.id: incident for incident in _incidents(connection, lang)},
        fixes=texts["fix"],
        snippets=dict(connection.execute("SELECT name, source FROM snippet")),
        digest=meta["digest"],
    )


def _records(connection: sqlite3.Connection, kind: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """The JSON records of a kind; lists become tuples, as the frozen value objects hold them."""
    for key, text in connection.execute(
        "SELECT id, data FROM record WHERE kind = ? ORDER BY position", (kind,)
    ):
        record = json.loads(text)
        yield key, {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}


def _texts(connection: sqlite3.Connection, lang: Lang) -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for kind, key, text in connection.execute(
        "SELECT kind, id, text FROM text WHERE lang = ?", (lang,)
    ):
        texts[kind][key] = text
    return texts


def _causes(connection: sqlite3.Connection, lang: Lang) -> Iterable[Cause]:
    fixes: dict[str, list[FixTemplate]] = defaultdict(list)
    for cause, kind, before, after, command, titles in connection.execute(
        "SELECT cause_id, kind, before, after, command, titles FROM cause_fix"
        " ORDER BY cause_id, position"
    ):
        fixes[cause].append(FixTemplate(kind, json.loads(titles)[lang], before, after, command))
    for row in connection.execute(
        "SELECT id, title, why, tell, prior, weights, example, checks, gpus, rather"
        " FROM cause JOIN cause_text ON cause_id = id WHERE lang = ? ORDER BY position",
        (lang,),
    ):
        key, title, why, tell, prior, weights, example, checks, gpus, rather = row
        yield Cause(
            id=key,
            title=title,
            why=why,
            tell=tell,
            fixes=tuple(fixes[key]),
            prior=prior,
            weights=json.loads(weights),
            example=example,
            checks=tuple(json.loads(checks)),
            gpus=gpus,
            rather=json.loads(rather),
        )


def _incidents(connection: sqlite3.Connection, lang: Lang) -> Iterable[Incident]:
    sources: dict[str, list[Source]] = defaultdict(list)
    for incident, url, supports in connection.execute(
        "SELECT incident_id, url, supports FROM incident_source ORDER BY incident_id, position"
    ):
        sources[incident].append(Source(url, supports))
    for row in connection.execute(
        "SELECT id, title, cause_id, saw, was, mended, libraries, exception, message, devices, op,"
        " argument, frames, fixes, versions, gpus, reproduce"
        " FROM incident JOIN incident_text ON incident_id = id WHERE lang = ? ORDER BY position",
        (lang,),
    ):
        yield Incident(
            id=row[0],
            title=row[1],
            cause=row[2],
            saw=row[3],
            was=row[4],
            mended=row[5],
            url=sources[row[0]][0].url,
            sources=tuple(sources[row[0]]),
            libraries=tuple(json.loads(row[6])),
            exception=row[7],
            message=row[8],
            devices=tuple(json.loads(row[9])),
            op=row[10],
            argument=row[11],
            frames=tuple(json.loads(row[12])),
            fixes=tuple(json.loads(row[13])),
            versions=json.loads(row[14]),
            gpus=row[15],
            reproduce=row[16],
        )
