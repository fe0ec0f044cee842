"""kb/ as rows of the schema: read strictly (`reader`), then turned into what the case base holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from diagnose.casebase import schema
from diagnose.casebase.connection import CasebaseError, connect, decoded
from diagnose.casebase.store import default_path
from diagnose.compiling import kbfile
from diagnose.compiling.crosschecks import order
from diagnose.compiling.digest import digest_of
from diagnose.compiling.kberror import KbError
from diagnose.compiling.kbfile import TRACE, Files
from diagnose.compiling.models.causes import CauseFile, Fixes, Questions
from diagnose.compiling.models.checks import Accelerator, Checks
from diagnose.compiling.models.facts import Facts, Weights
from diagnose.compiling.models.incidents import CaseFile
from diagnose.compiling.models.messages import Families, GrammarFile, Libraries, Messages, Notions
from diagnose.compiling.models.names import Aten, Effects, TorchNames, Words
from diagnose.compiling.models.others import (
    Advice,
    DescriptionsFile,
    Operands,
    Redaction,
    Repairs,
    Strays,
)
from diagnose.compiling.models.strict import LANGS, Sentences
from diagnose.compiling.reader import Kb
from diagnose.compiling.reader import read as read_files
from diagnose.compiling.weights import weighed
from diagnose.compiling.words import alternations, patterns, sought
from diagnose.model import FamilyRule, Knowledge, Wording
from diagnose.naming import descriptions
from diagnose.naming.descriptions import OTHER, counted
from diagnose.parsing import parse
from diagnose.parsing.marks import derive

_COUNTING = Path(descriptions.__file__)


class Source(NamedTuple):
    """A kb/ as it was read: every file, and what they hold."""

    files: Files
    kb: Kb

    @property
    def problems(self) -> tuple[KbError, ...]:
        """Every mistake, with file, line, key and reason."""
        return self.kb.problems

    def rows(self, *, incidents: bool = True) -> list[schema.Base]:
        """Rows in an order that satisfies foreign keys, of a kb/ without mistakes; made anew each time,
        since a session keeps what it is given. Reports are read alike without those of ``incidents``."""
        return list(_rows(self.kb, self.files, incidents))


def read(kb: Path) -> Source:
    """Reads all of kb/, each file once. Never stops at a mistake: `Source.problems` has all of them."""
    files = kbfile.files(kb)
    return Source(files, read_files(files))


def _rows(kb: Kb, files: Files, with_incidents: bool) -> Iterator[schema.Base]:
    yield schema.MetaRow(key="schema", value=str(schema.VERSION))
    read_from = ((name, held) for name, held in files.items() if isinstance(held, bytes))
    own = ((name, held) for name, held in read_from if not name.startswith("../"))
    yield schema.MetaRow(key="digest", value=digest_of(own))
    wordings = [entry.value() for entry in kb.one("messages.toml", Messages).wording]
    incidents = kb.all("cases/*/case.toml", CaseFile)
    buggy = {release.library for one in incidents.values() for release in one.releases}
    libraries = [entry.value(buggy) for entry in kb.one("libraries.toml", Libraries).library]
    families = [entry.value() for entry in kb.one("families.toml", Families).rule]
    yield from _records("wording", ((one.id, one._asdict()) for one in wordings))
    grammar = kb.one("grammar.toml", GrammarFile).value()
    yield from _records("grammar", [("grammar", grammar._asdict())])
    notions = kb.one("notions.toml", Notions).value()
    yield from _records("notions", [("notions", notions._asdict())])
    yield from _records("library", ((one.name, one._asdict()) for one in libraries))
    yield from _records("family", ((one.id, one._asdict()) for one in families))
    yield from _records("marks", [("marks", _marks(wordings, families))])
    yield from _records("advice", _advice(kb.one("advice.toml", Advice)))
    redaction = kb.one("redaction.toml", Redaction)
    yield from _records("redaction", redaction.entries())
    yield from _records(
        "redacted", ((kind, entry.model_dump()) for kind, entry in redaction.kinds.items())
    )
    for kind, file in (("repair", "repairs.toml"), ("device-map", "device_map.toml")):
        said = kb.one(file, Repairs).root
        yield from _records(kind, ((key, _by_lang(texts)) for key, texts in said.items()))
    yield from _records("operands", kb.one("operands.toml", Operands).root.items())
    yield from _records("strays", kb.one("strays.toml", Strays).root.items())
    torch = kb.one("torch.toml", TorchNames).beside(kb.one("aten.toml", Aten))
    words = alternations(
        {**patterns(torch.model_dump(by_alias=True)), **kb.one("words.toml", Words).root}
    )
    yield from _records("words", [("words", sought(words))])
    effects = kb.one("effects.toml", Effects).value(torch)
    yield from _records("torch", [("torch", {**torch.value(), "effects": effects})])
    for fix, sentences in kb.one("fixes.toml", Fixes).root.items():
        yield from _texts("fix", fix, sentences)
    facts = kb.one("facts.toml", Facts).root
    ordered = order(
        {fact: entry.model_dump(include={"all", "none"}) for fact, entry in facts.items()}
    )[0]
    for fact in ordered:
        yield from _texts("fact", fact, facts[fact])
    yield from _records("fact", ((fact, facts[fact].value()) for fact in ordered))
    for name, source in kb.programs.items():
        if fnmatchcase(name, "verification/*.py"):
            part = PurePosixPath(name).relative_to("verification").with_suffix("")
            yield schema.SnippetRow(name=str(part), source=source)
    questions = kb.one("questions.toml", Questions).root
    yield from _records("question", ((key, entry.value()) for key, entry in questions.items()))
    checks = kb.one("checks.toml", Checks).root
    yield from _records("check", ((key, entry.value()) for key, entry in checks.items()))
    accelerator = kb.one("accelerator.toml", Accelerator)
    yield from _records("accelerator", [("accelerator", accelerator.value())])
    beliefs, corrections = (kb.one(f"{name}.toml", Weights) for name in ("beliefs", "corrections"))
    weights = weighed(beliefs.root, corrections.root)
    causes = kb.all("causes/*.toml", CauseFile)
    yield from _records("first-fixes", ((one.id, _first_fixes(one)) for one in causes.values()))
    yield from _records("fix-examples", ((one.id, _examples(one)) for one in causes.values()))
    for position, (name, cause) in enumerate(causes.items()):
        example = kb.programs[str(PurePosixPath(name).with_suffix(".py"))]
        yield from _cause(cause, position, weights.get(cause.id, {}), example)
    described = list(_described(kb, list(causes.values()), list(incidents.values())))
    yield from _records("descriptions", [_counted(described)])
    if not with_incidents:
        return
    known = Knowledge(wordings=wordings, grammar=grammar, libraries=libraries, families=families)
    for position, (name, incident) in enumerate(incidents.items()):
        folder = PurePosixPath(name).parent
        trace = files.get(str(folder / TRACE))
        recorded = _recorded(trace, known) if isinstance(trace, bytes) else {}
        yield from _incident(
            incident, position, kb.programs[str(folder / "reproduce.py")], recorded
        )


def _records(kind: str, entries: Iterable[tuple[str, Any]]) -> Iterator[schema.Base]:
    """Rows of what is read whole, in the order of its file."""
    for position, (key, data) in enumerate(entries):
        yield schema.RecordRow(kind=kind, position=position, id=key, data=data)


def _described(
    kb: Kb, causes: Sequence[CauseFile], incidents: Sequence[CaseFile]
) -> Iterator[tuple[str, str]]:
    """The texts of kb/ that describe failures, each with its cause."""
    for lang in LANGS:
        for cause in causes:
            its = getattr(cause, lang)
            fixes = (getattr(fix, lang) for fix in cause.fixes)
            yield cause.id, "\n".join((its.title, its.why, its.tell, *fixes))
        for incident in incidents:
            its = getattr(incident, lang)
            yield incident.cause, "\n".join((its.title, its.saw, its.was, its.mended))
    for name, file in kb.all("descriptions/*.toml", DescriptionsFile).items():
        of = PurePosixPath(name).stem
        for one in (*file.en, *file.zh):
            yield OTHER if of == "other" else of, one.text


def _counted(texts: Sequence[tuple[str, str]]) -> tuple[str, dict[str, Any]]:
    """What the texts use, under a name for these texts and this way of counting: where the case base that
    answers holds it, it is taken from there."""
    name = digest_of([*((of, text.encode()) for of, text in texts), ("", _COUNTING.read_bytes())])
    with suppress(CasebaseError, ValueError):
        sql = "SELECT data FROM record WHERE kind = 'descriptions' AND id = :name"
        for (data,) in connect(default_path()).rows(sql, name=name):
            return name, decoded(data)
    return name, counted(texts)._asdict()


def _marks(wordings: Sequence[Wording], families: Sequence[FamilyRule]) -> dict[str, Any]:
    """What large logs are searched for, so that nobody waits for its derivation."""
    return derive(wordings, families)._asdict()


def _advice(advice: Advice) -> Iterator[tuple[str, dict[str, Any]]]:
    for entry in advice.advice:
        texts = {lang: list(getattr(entry, lang)) for lang in LANGS}
        yield entry.id, {"family": entry.family, "pattern": entry.pattern or "", "texts": texts}


def _texts(kind: str, key: str, texts: Any) -> Iterator[schema.Base]:
    """The text in each language."""
    for lang in LANGS:
        yield schema.TextRow(kind=kind, id=key, lang=lang, text=getattr(texts, lang))


def _by_lang(texts: Any) -> dict[str, str]:
    return {lang: getattr(texts, lang) for lang in LANGS}


def _first_fixes(cause: CauseFile) -> dict[str, list[str]]:
    """By kind of fix the facts with which it comes first."""
    return {fix.kind: list(fix.first_with) for fix in cause.fixes if fix.first_with}


def _examples(cause: CauseFile) -> dict[str, list[dict[str, Any]]]:
    return {
        fix.kind: [one.model_dump(mode="json") for one in fix.examples]
        for fix in cause.fixes
        if fix.examples
    }


def _cause(
    cause: CauseFile, position: int, weights: dict[str, float], example: str
) -> Iterator[schema.Base]:
    yield schema.CauseRow(
        id=cause.id,
        position=position,
        prior=float(cause.prior),
        gpus=cause.gpus,
        checks=list(cause.checks),
        edits=cause.edits,
        weights={fact: float(weight) for fact, weight in weights.items()},
        example=example,
    )
    rather: dict[str, Sentences] = cause.rather
    for lang in LANGS:
        texts = getattr(cause, lang)
        yield schema.CauseTextRow(
            cause_id=cause.id,
            lang=lang,
            title=texts.title,
            why=texts.why,
            tell=texts.tell,
            rather={other: getattr(sentences, lang) for other, sentences in rather.items()},
        )
    for number, fix in enumerate(cause.fixes):
        yield schema.CauseFixRow(
            cause_id=cause.id,
            position=number,
            kind=fix.kind,
            before=fix.before,
            after=fix.after,
            command=fix.command,
            titles=_by_lang(fix),
        )


def _recorded(trace: bytes, knowledge: Knowledge) -> dict[str, Any]:
    """What a recorded traceback is recognised by."""
    report = parse(trace, knowledge=knowledge)
    return {
        "frames": [f"{frame.file} {frame.function or ''}" for frame in report.frames],
        "message": report.error.message if report.error else "",
        "libraries": list(report.libraries),
    }


def _incident(
    incident: CaseFile, position: int, reproduce: str, recorded: dict[str, Any]
) -> Iterator[schema.Base]:
    yield schema.IncidentRow(
        id=incident.id,
        position=position,
        cause_id=incident.cause,
        exception=incident.exception,
        message=incident.message or "",
        op=incident.op,
        argument=incident.argument,
        devices=list(incident.devices),
        libraries=list(incident.libraries),
        frames=list(incident.frames),
        fixes=list(incident.fixes),
        versions=incident.versions,
        gpus=incident.gpus,
        reproduce=reproduce,
        recorded=recorded,
        inferred=list(incident.inferred),
    )
    for lang in LANGS:
        texts = getattr(incident, lang)
        yield schema.IncidentTextRow(
            incident_id=incident.id,
            lang=lang,
            title=texts.title,
            saw=texts.saw,
            was=texts.was,
            mended=texts.mended,
        )
    for number, source in enumerate(incident.sources):
        yield schema.IncidentSourceRow(
            incident_id=incident.id, position=number, url=source.url, supports=source.supports
        )
    for number, release in enumerate(incident.releases):
        yield schema.IncidentReleaseRow(
            incident_id=incident.id, position=number, **release.model_dump()
        )
