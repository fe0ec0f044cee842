"""Opens a case base read-only: the compiled file, or a team's database by its URL.

What every answer needs is read in one go; the incidents stay where they are until they are asked for
(`index`). What `schema` and `build` wrote through SQLAlchemy is read with plain SQL (`connection`
says why); tests/casebase hold the two together.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from diagnose.casebase.connection import (
    CasebaseError,
    Database,
    connect,
    decoded,
    decoded_all,
    displayed,
    is_url,
)
from diagnose.casebase.index import StoredIncidents
from diagnose.model import (
    AcceleratorRule,
    AdviceRule,
    Cause,
    CheckRule,
    FactRule,
    FamilyRule,
    FixExample,
    FixTemplate,
    Form,
    Grammar,
    Incident,
    Knowledge,
    Lang,
    Library,
    Marks,
    QuestionRule,
    RedactionRule,
    TorchNames,
    Wording,
    Words,
)
from diagnose.naming.descriptions import Descriptions
from diagnose.patterns import lazy

__all__ = ["Casebase", "CasebaseError", "default_location", "default_path", "load"]

#: Must equal `diagnose.casebase.schema.VERSION`.
SCHEMA_VERSION = "10"


class Redaction(NamedTuple):
    """What is taken out of texts that leave the machine or are stored, and what each kind of it is called:
    one, and several."""

    rules: tuple[RedactionRule, ...]
    kinds: Mapping[str, tuple[str, str]]


class Casebase(NamedTuple):
    """The case base in one language: in memory, but for the incidents (`index.StoredIncidents`)."""

    lang: Lang
    knowledge: Knowledge
    incidents: Mapping[str, Incident]
    fixes: Mapping[str, str]
    snippets: Mapping[str, str]
    questions: Callable[[], tuple[QuestionRule, ...]]
    advice: Callable[[], tuple[AdviceRule, ...]]
    checks: Callable[[], tuple[CheckRule, ...]]
    accelerator: Callable[[], AcceleratorRule]
    repairs: Callable[[], Mapping[str, str]]
    device_map: Callable[[], Mapping[str, str]]
    redaction: Callable[[], Redaction]
    digest: str

    @property
    def causes(self) -> Mapping[str, Cause]:
        """The root causes by id."""
        return self.knowledge.causes


def default_location() -> Path | str:
    """The compiled file that came with the package, or $DIAGNOSE_CASEBASE: a path or a URL."""
    override = os.environ.get("DIAGNOSE_CASEBASE")
    if override and is_url(override):
        return override
    return Path(override) if override else Path(__file__).parents[1] / "casebase.sqlite"


def default_path() -> Path:
    """`default_location` as a path.

    Raises:
        CasebaseError: $DIAGNOSE_CASEBASE is a URL.
    """
    location = default_location()
    if isinstance(location, str):
        raise CasebaseError(f"$DIAGNOSE_CASEBASE is {displayed(location)}, not a file")
    return location


@lru_cache(maxsize=4)
def load(location: Path | str | None = None, lang: Lang = "en") -> Casebase:
    """Opens the case base at a path or database URL; the result is cached.

    Raises:
        CasebaseError: it is missing, damaged or of another schema version.
    """
    location = location or default_location()
    database = connect(location)
    try:
        return _read(database, lang)
    except (KeyError, TypeError, ValueError) as error:
        raise CasebaseError(
            f"the case base {displayed(location)} cannot be read: {error}"
        ) from error


def _read(database: Database, lang: Lang) -> Casebase:
    meta: dict[str, str] = dict(database.rows("SELECT key, value FROM meta"))
    if meta.get("schema") != SCHEMA_VERSION:
        raise ValueError(
            f"schema version {meta.get('schema')}, this diagnose reads version {SCHEMA_VERSION}; "
            f"run `diagnose kb {'build' if database.immutable else 'publish'}`"
        )
    texts = _texts(database, lang)
    knowledge = Knowledge(
        wordings=tuple(Wording(**row) for _, row in _records(database, "wording")),
        grammar=_grammar(database, "grammar"),
        notions=_grammar(database, "notions"),
        libraries=tuple(Library(**row) for _, row in _records(database, "library")),
        families=tuple(FamilyRule(**row) for _, row in _records(database, "family")),
        marks=next((Marks(**row) for _, row in _records(database, "marks")), None),
        operands=dict(_records(database, "operands")),
        strays=dict(_records(database, "strays")),
        words=next((_words(row) for _, row in _records(database, "words")), Words()),
        torch=next((TorchNames.of(row) for _, row in _records(database, "torch")), TorchNames()),
        facts={
            key: FactRule(key, texts["fact"][key], **row) for key, row in _records(database, "fact")
        },
        causes={cause.id: cause for cause in _causes(database, lang)},
        descriptions=lru_cache(maxsize=1)(partial(_descriptions, database)),
    )
    return Casebase(
        lang=lang,
        knowledge=knowledge,
        incidents=StoredIncidents(database, lang),
        fixes=texts["fix"],
        snippets=dict(database.rows("SELECT name, source FROM snippet")),
        questions=lru_cache(maxsize=1)(partial(_questions, database, lang)),
        advice=lru_cache(maxsize=1)(partial(_advice, database, lang)),
        checks=lru_cache(maxsize=1)(partial(_checks, database, lang)),
        accelerator=lru_cache(maxsize=1)(partial(_accelerator, database, lang)),
        repairs=lru_cache(maxsize=1)(partial(_sentences, database, lang, "repair")),
        device_map=lru_cache(maxsize=1)(partial(_sentences, database, lang, "device-map")),
        redaction=lru_cache(maxsize=1)(partial(_redaction, database, lang)),
        digest=meta["digest"],
    )


def _records(database: Database, kind: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """The JSON records of a kind; lists become tuples, as the frozen value objects hold them."""
    rows = database.rows(
        "SELECT id, data FROM record WHERE kind = :kind ORDER BY position", kind=kind
    )
    for (key, _), record in zip(rows, decoded_all([data for _, data in rows]), strict=True):
        yield key, {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}


def _grammar(database: Database, kind: str) -> Grammar:
    for _, row in _records(database, kind):
        return Grammar(row["marks"], row["words"], tuple(Form(*form) for form in row["forms"]))
    return Grammar()


def _words(row: Mapping[str, str]) -> Words:
    return Words(**{name: lazy(pattern) for name, pattern in row.items()})


def _questions(database: Database, lang: Lang) -> tuple[QuestionRule, ...]:
    """Read when first asked for: most answers are sure and ask nothing."""
    found = []
    for key, row in _records(database, "question"):
        texts = row.pop("texts")[lang]
        answers = tuple(texts.pop("answers"))
        found.append(QuestionRule(id=key, answers=answers, **texts, **row))
    return tuple(found)


def _advice(database: Database, lang: Lang) -> tuple[AdviceRule, ...]:
    """Read when first asked for: only failures of other families want it."""
    return tuple(
        AdviceRule(key, row["family"], tuple(row["texts"][lang]), row["pattern"])
        for key, row in _records(database, "advice")
    )


def _checks(database: Database, lang: Lang) -> tuple[CheckRule, ...]:
    """Read when first asked for: only a check of source wants it."""
    return tuple(
        CheckRule(key, **row.pop("texts")[lang], **row) for key, row in _records(database, "check")
    )


def _accelerator(database: Database, lang: Lang) -> AcceleratorRule:
    """Read when first asked for: only a check that selects it wants it."""
    ((_, row),) = _records(database, "accelerator")
    return AcceleratorRule(**row.pop("texts")[lang], **row)


def _descriptions(database: Database) -> Descriptions:
    """Read when first asked for: a traceback has no need of it."""
    rows = database.rows("SELECT data FROM record WHERE kind = 'descriptions'")
    return Descriptions(**decoded(rows[0][0])) if rows else Descriptions()


def _sentences(database: Database, lang: Lang, kind: str) -> Mapping[str, str]:
    """Read when first asked for: only a repair, or a check of a device map, says them."""
    return {key: texts[lang] for key, texts in _records(database, kind)}


def _redaction(database: Database, lang: Lang) -> Redaction:
    """Read when first asked for: only what is stored or sent is redacted."""
    kinds = ((kind, row[lang]) for kind, row in _records(database, "redacted"))
    return Redaction(
        tuple(RedactionRule(key, **row) for key, row in _records(database, "redaction")),
        {kind: (said["one"], said["many"]) for kind, said in kinds},
    )


def _texts(database: Database, lang: Lang) -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for kind, key, text in database.rows(
        "SELECT kind, id, text FROM text WHERE lang = :lang", lang=lang
    ):
        texts[kind][key] = text
    return texts


def _causes(database: Database, lang: Lang) -> Iterable[Cause]:
    fixes: dict[str, list[FixTemplate]] = defaultdict(list)
    first = dict(_records(database, "first-fixes"))
    shown = dict(_records(database, "fix-examples"))
    for cause, kind, before, after, command, titles in database.rows(
        "SELECT cause_id, kind, before, after, command, titles FROM cause_fix"
        " ORDER BY cause_id, position"
    ):
        first_with = tuple(first.get(cause, {}).get(kind, ()))
        title = decoded(titles)[lang]
        examples = tuple(
            FixExample(tuple(one["shown_with"]), one["before"], one["after"])
            for one in shown.get(cause, {}).get(kind, ())
        )
        fixes[cause].append(FixTemplate(kind, title, before, after, command, first_with, examples))
    for row in database.rows(
        "SELECT id, title, why, tell, prior, weights, example, checks, gpus, rather, edits"
        " FROM cause JOIN cause_text ON cause_id = id WHERE lang = :lang ORDER BY position",
        lang=lang,
    ):
        key, title, why, tell, prior, weights, example, checks, gpus, rather, edits = row
        yield Cause(
            id=key,
            title=title,
            why=why,
            tell=tell,
            fixes=tuple(fixes[key]),
            prior=prior,
            weights=decoded(weights),
            example=example,
            checks=tuple(decoded(checks)),
            gpus=gpus,
            rather=decoded(rather),
            edits=edits,
        )
