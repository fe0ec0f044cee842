"""Reads and validates kb/: TOML and Python files in, rows of the schema and a list of mistakes out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import regex

from diagnose.bulkhead import debug, place
from diagnose.casebase import schema
from diagnose.compiling.advice import advice
from diagnose.compiling.digest import digest
from diagnose.compiling.entry import Entry
from diagnose.compiling.kberror import KbError
from diagnose.compiling.kbfile import text_of
from diagnose.compiling.kbfiles import load_families, load_libraries, load_wordings, load_words
from diagnose.compiling.literals import required
from diagnose.compiling.questions import known_placeholders, line_with_placeholders, questions
from diagnose.compiling.weights import weighed
from diagnose.compiling.words import UnknownListError, expanded, sought
from diagnose.facts.values import NAMES
from diagnose.model import Edits, FamilyRule, Knowledge, Library, Wording
from diagnose.parsing import parse
from diagnose.parsing.families import OTHER
from diagnose.parsing.marks import derive

LANGS = ("en", "zh")
#: What an incident's failing variant printed, recorded by `diagnose cases record`.
TRACE = "trace.txt"
ROLES = ("input", "weight", "index", "target", "class-weight", "state", "tensor")
MATCHERS = (*("type", "message", "op", "argument", "pair", "context", "library", "operand"),)
FRAME_MATCHERS = ("file", "function", "code", "library")
WHICH = ("any", "innermost", "site", "own", "outermost")


@dataclass(frozen=True, slots=True)
class Source:
    """What kb/ holds: rows in an order that satisfies foreign keys, and every mistake found."""

    rows: tuple[schema.Base, ...]
    problems: tuple[KbError, ...]


def read(kb: Path) -> Source:
    """Reads all of kb/.

    Never stops at a mistake: `Source.problems` has all of them, each with file, key and reason.
    """
    if not (kb / "causes").is_dir():
        return Source((), (KbError(str(kb), "-", "holds no causes/ folder"),))
    problems: list[KbError] = []
    rows: list[schema.Base] = [
        schema.MetaRow(key="schema", value=str(schema.VERSION)),
        schema.MetaRow(key="digest", value=digest(kb)),
    ]
    rows += _records("wording", kb / "messages.toml", _wordings, problems)
    rows += _records("library", kb / "libraries.toml", load_libraries, problems)
    rows += _records("family", kb / "families.toml", load_families, problems)
    rows.append(_marks(rows))
    families = {row.data["family"] for row in _of_kind("family", rows)}
    rows += advice(kb, families | {OTHER}, problems) if families else []
    rows += _operands(kb, problems)
    rows += _sought(kb, problems)

    fixes = _fixes(kb, problems, rows)
    facts = _facts(kb, problems, rows)
    checks = _snippets(kb, problems, rows)
    causes = {path.stem for path in (kb / "causes").glob("*.toml")}
    # Without facts, which is told already, every mention of one would be told as another mistake.
    weights = _weights(kb, causes, facts, problems) if facts else {}
    rows += questions(kb, causes, facts, problems) if facts else []
    for position, cause in enumerate(sorted(causes)):
        with _told(f"causes/{cause}.toml", problems):
            rows += _cause(kb, cause, position, causes, fixes, checks, weights, problems)
    libraries = Knowledge(libraries=[Library(**row.data) for row in _of_kind("library", rows)])
    for position, path in enumerate(sorted((kb / "cases").glob("*/case.toml"))):
        with _told(path.relative_to(kb).as_posix(), problems):
            rows += _incident(kb, path, position, causes, fixes, libraries, problems)
    return Source(tuple(rows), tuple(problems))


@contextmanager
def _told(name: str, problems: list[KbError]) -> Iterator[None]:
    """Makes a fault of ours at one file a problem of that file: the others are checked all the same."""
    try:
        yield
    except Exception as error:
        debug(f"reading {name} failed", error)
        problems.append(KbError(name, "-", f"cannot be read: a fault of diagnose: {place(error)}"))


def _of_kind(kind: str, rows: Sequence[schema.Base]) -> list[schema.RecordRow]:
    return [row for row in rows if isinstance(row, schema.RecordRow) and row.kind == kind]


def _records(
    kind: str, path: Path, load: Callable[[Path], Sequence[Any]], problems: list[KbError]
) -> list[schema.Base]:
    """Rows of a file that the parsing stage knows how to read."""
    try:
        records = load(path)
    except KbError as error:
        problems.append(error)
        return []
    return [
        schema.RecordRow(
            kind=kind,
            position=position,
            id=getattr(record, "id", None) or record.name,
            data=record._asdict(),
        )
        for position, record in enumerate(records)
    ]


def _wordings(path: Path) -> list[Wording]:
    """The wordings, each with what its pattern demands.

    Raises:
        KbError: the file holds a mistake.
    """
    return [one._replace(demands=required(one.pattern)) for one in load_wordings(path)]


def _marks(rows: Sequence[schema.Base]) -> schema.RecordRow:
    """What large logs are searched for, so that nobody waits for its derivation."""
    records = [row for row in rows if isinstance(row, schema.RecordRow)]
    wordings = [Wording(**row.data) for row in records if row.kind == "wording"]
    families = [FamilyRule(**row.data) for row in records if row.kind == "family"]
    marks = derive(wordings, families)._asdict()
    return schema.RecordRow(kind="marks", position=0, id="marks", data=marks)


def _operands(kb: Path, problems: list[KbError]) -> list[schema.Base]:
    """kb/operands.toml: for each op the role of each argument."""
    entry = Entry.of_file(kb / "operands.toml", kb, problems)
    rows: list[schema.Base] = []
    for position, op in enumerate(entry.data):
        roles = entry.table(op)
        data = {argument: roles.text(argument, one_of=ROLES) for argument in roles.data}
        if "first" not in data:
            roles.problem("first", "is missing")
        rows.append(schema.RecordRow(kind="operands", position=position, id=op, data=data))
    return rows


def _fixes(kb: Path, problems: list[KbError], rows: list[schema.Base]) -> Collection[str]:
    """kb/fixes.toml: a sentence for each fix id. Returns the ids."""
    entry = Entry.of_file(kb / "fixes.toml", kb, problems)
    for fix in entry.data:
        rows += _texts("fix", fix, texts := entry.table(fix))
        texts.done()
    return entry.data.keys()


def _facts(kb: Path, problems: list[KbError], rows: list[schema.Base]) -> Collection[str]:
    """kb/facts.toml: for each fact its sentence and, unless it is computed, its matchers."""
    entry = Entry.of_file(kb / "facts.toml", kb, problems)
    words = _words(kb, problems)
    topics = {topic for row in _of_kind("wording", rows) for topic in row.data["says"]}
    for position, fact in enumerate(entry.data):
        table = entry.table(fact)
        rows += _texts("fact", fact, table)
        for lang in LANGS:
            known_placeholders(table, lang, table.text(lang), NAMES)
        when = {key: _pattern(table, key, words) for key in MATCHERS if key in table.data}
        if "says" in table.data:
            when["says"] = table.text("says", one_of=topics)
        frame = table.table("frame", optional=True)
        parts = {key: _pattern(frame, key, words) for key in FRAME_MATCHERS if key in frame.data}
        if parts:
            parts["which"] = frame.optional_text("which", one_of=WHICH) or "any"
        frame.done()
        others = {
            key: table.strings(key, one_of=entry.data)
            for key in ("all", "none")
            if key in table.data
        }
        for key in ("examples", "not"):
            for example in table.tables(key):
                _example(example)
        table.done()
        patterns = {key: when[key] for key in MATCHERS if key in when} | {
            f"frame.{key}": parts[key] for key in FRAME_MATCHERS if key in parts
        }
        literals = {key: found for key, text in patterns.items() if (found := required(text))}
        rows.append(
            schema.RecordRow(
                kind="fact",
                position=position,
                id=fact,
                data={"when": when, "frame": parts, **others, "literals": literals},
            )
        )
    return entry.data.keys()


def _example(entry: Entry) -> None:
    """A small report beside a fact (`diagnose.authoring.examples`), checked for its form."""
    for key in ("type", "message", "log"):
        entry.optional_text(key)
    if len(entry.strings("devices", optional=True)) not in (0, 2):
        entry.problem("devices", "must be two devices")
    frames = entry.data.get("frames", [])
    if not isinstance(frames, list) or not all(map(_is_frame, frames)):
        entry.problem("frames", "must be a list of [file, function, line]")
    entry.data.pop("frames", None)
    entry.done()


def _is_frame(frame: object) -> bool:
    return (
        isinstance(frame, list)
        and len(frame) == 3
        and all(isinstance(part, str) and part for part in frame)
    )


def _texts(kind: str, key: str, table: Entry) -> list[schema.Base]:
    """The text of ``table`` in each language."""
    return [schema.TextRow(kind=kind, id=key, lang=lang, text=table.text(lang)) for lang in LANGS]


def _words(kb: Path, problems: list[KbError]) -> dict[str, str]:
    """kb/words.toml: for each list the pattern that it stands for."""
    try:
        return load_words(kb / "words.toml")
    except KbError as error:
        if error not in problems:
            problems.append(error)
        return {}


def _sought(kb: Path, problems: list[KbError]) -> list[schema.Base]:
    """The patterns of words that the engine itself looks for."""
    try:
        data = sought(load_words(kb / "words.toml"))
    except KbError:  # told where the facts are read
        return []
    except UnknownListError as error:
        problems.append(KbError("words.toml", "-", str(error)))
        return []
    return [schema.RecordRow(kind="words", position=0, id="words", data=data)]


def _pattern(table: Entry, key: str, words: Mapping[str, str]) -> str:
    """A regular expression with its lists of words, checked to compile."""
    pattern = table.text(key)
    try:
        pattern = expanded(pattern, words)
        regex.compile(pattern)
    except regex.error as error:
        table.problem(key, f"is not a regular expression: {error}")
    except UnknownListError as error:
        table.problem(key, str(error))
    return pattern


def _snippets(kb: Path, problems: list[KbError], rows: list[schema.Base]) -> Collection[str]:
    """The parts of the verification programs. Returns the names of the checks."""
    checks = set()
    for path in sorted((kb / "verification").rglob("*.py")):
        name = path.relative_to(kb / "verification").with_suffix("").as_posix()
        rows.append(schema.SnippetRow(name=name, source=_program(path, kb, problems)))
        if name.startswith("checks/"):
            checks.add(name.removeprefix("checks/").replace("_", "-"))
    return checks


def _program(path: Path, kb: Path, problems: list[KbError], functions: Collection[str] = ()) -> str:
    """A Python file's text, checked to compile and to define ``functions``."""
    name = path.relative_to(kb).as_posix()
    try:
        text = text_of(path, name)
        tree = ast.parse(text, name)
    except KbError as error:
        problems.append(error)
        return ""
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problems.append(KbError(name, "-", f"is no Python program: {error}"))
        return ""
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    problems += [
        KbError(name, function, "is not defined")
        for function in functions
        if function not in defined
    ]
    return text


def _weights(
    kb: Path, causes: Collection[str], facts: Collection[str], problems: list[KbError]
) -> dict[str, dict[str, float]]:
    """For each cause the weight of each fact: kb/beliefs.toml and what kb/corrections.toml adds to it."""
    beliefs = _log_odds(kb / "beliefs.toml", kb, causes, facts, problems)
    corrections = _log_odds(kb / "corrections.toml", kb, causes, facts, problems)
    problems += [
        KbError("corrections.toml", f"{cause}.{fact}", "corrects what beliefs.toml does not name")
        for cause, table in corrections.items()
        for fact in table
        if cause in causes and fact in facts and fact not in beliefs.get(cause, {})
    ]
    return weighed(beliefs, corrections)


def _log_odds(
    path: Path,
    kb: Path,
    causes: Collection[str],
    facts: Collection[str],
    problems: list[KbError],
) -> dict[str, dict[str, float]]:
    """A file that holds, for each cause, a number for some facts."""
    entry = Entry.of_file(path, kb, problems)
    found = {}
    for cause in entry.data:
        table = entry.table(cause)
        if cause not in causes:
            entry.problem(cause, "is not a known cause")
        for fact in table.data:
            if fact not in facts:
                table.problem(fact, "is not a known fact")
        found[cause] = {fact: table.number(fact, -20, 20) for fact in table.data}
    return found


def _cause(
    kb: Path,
    cause: str,
    position: int,
    causes: Collection[str],
    fixes: Collection[str],
    checks: Collection[str],
    weights: dict[str, dict[str, float]],
    problems: list[KbError],
) -> list[schema.Base]:
    path = kb / "causes" / f"{cause}.toml"
    entry = Entry.of_file(path, kb, problems)
    if entry.text("id") != cause:
        entry.problem("id", f"must be {cause!r}, as the file's name")
    rather = entry.table("rather", optional=True)
    neighbours = {other: rather.table(other) for other in rather.data}
    for other in neighbours:
        if other not in causes:
            rather.problem(other, "is not a known cause")
    rows: list[schema.Base] = [
        schema.CauseRow(
            id=cause,
            position=position,
            prior=entry.number("prior", 0.0001, 1),
            gpus=int(entry.number("gpus", 1, 64)),
            checks=entry.strings("checks", one_of={*checks, "runs"}),
            edits=entry.optional_text("edits", one_of=get_args(Edits)) or "own",
            weights=weights.get(cause, {}),
            example=_program(path.with_suffix(".py"), kb, problems, ("mistake", "fixed")),
        )
    ]
    for lang in LANGS:
        texts = entry.table(lang)
        rows.append(
            schema.CauseTextRow(
                cause_id=cause,
                lang=lang,
                title=texts.text("title", limit=80),
                why=texts.text("why"),
                tell=texts.text("tell"),
                rather={other: text.text(lang) for other, text in neighbours.items()},
            )
        )
        texts.done()
    for number, fix in enumerate(entry.tables("fixes", at_least=1)):
        rows.append(
            schema.CauseFixRow(
                cause_id=cause,
                position=number,
                kind=fix.text("kind", one_of=fixes),
                before=fix.optional_text("before"),
                after=fix.optional_text("after"),
                command=line_with_placeholders(fix, "command"),
                titles={lang: fix.text(lang) for lang in LANGS},
            )
        )
        fix.done()
    # `simulated = false` and its reason are for the tests of the examples.
    entry.data.pop("simulated", None)
    entry.data.pop("reason", None)
    entry.done()
    return rows


def _recorded(trace: Path, libraries: Knowledge) -> dict[str, Any]:
    """What a recorded traceback is recognised by; nothing where none was recorded."""
    if not trace.is_file():
        return {}
    report = parse(trace.read_bytes(), knowledge=libraries)
    return {
        "frames": [f"{frame.file} {frame.function or ''}" for frame in report.frames],
        "message": report.error.message if report.error else "",
        "libraries": list(report.libraries),
    }


def _incident(
    kb: Path,
    path: Path,
    position: int,
    causes: Collection[str],
    fixes: Collection[str],
    libraries: Knowledge,
    problems: list[KbError],
) -> list[schema.Base]:
    entry = Entry.of_file(path, kb, problems)
    slug = path.parent.name
    if entry.text("id") != slug:
        entry.problem("id", f"must be {slug!r}, as the folder's name")
    sources = entry.tables("sources", at_least=1)
    versions = entry.table("versions", optional=True)
    rows: list[schema.Base] = [
        schema.IncidentRow(
            id=slug,
            position=position,
            cause_id=entry.text("cause", one_of=causes),
            exception=entry.optional_text("exception"),
            message=entry.optional_text("message") or "",
            op=entry.optional_text("op"),
            argument=entry.optional_text("argument"),
            devices=entry.strings("devices", optional=True),
            libraries=entry.strings("libraries", optional=True),
            frames=entry.strings("frames", optional=True),
            fixes=entry.strings("fixes", one_of=fixes),
            versions={name: versions.text(name) for name in versions.data},
            gpus=int(entry.number("gpus", 1, 64)),
            reproduce=_program(path.with_name("reproduce.py"), kb, problems),
            recorded=_recorded(path.with_name(TRACE), libraries),
        )
    ]
    entry.strings("needs")
    # What `proving` reads: another family than device-placement, no error at all, no simulation.
    for key in ("family", "silent", "simulated", "reason"):
        entry.data.pop(key, None)
    for lang in LANGS:
        texts = entry.table(lang)
        rows.append(
            schema.IncidentTextRow(
                incident_id=slug,
                lang=lang,
                title=texts.text("title", limit=100),
                saw=texts.text("saw"),
                was=texts.text("was"),
                mended=texts.text("mended"),
            )
        )
        texts.done()
    for number, source in enumerate(sources):
        url = source.text("url")
        if not url.startswith("https://"):
            source.problem("url", "must be an https address")
        rows.append(
            schema.IncidentSourceRow(
                incident_id=slug, position=number, url=url, supports=source.text("supports")
            )
        )
        source.done()
    entry.done()
    return rows
