"""What no file says alone: ids that are there twice, circles, entries that others miss.

Works on the plain documents, so that a mistake elsewhere in a file hides none of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from diagnose.compiling.models import KINDS
from diagnose.compiling.models.strict import regex_mistake
from diagnose.compiling.positions import Way
from diagnose.compiling.words import NEEDED, UnknownListError, alternation, patterns
from diagnose.parsing.families import OTHER

Document = Mapping[str, Any]
#: File, way to the key, reason.
Found = tuple[str, Way, str]


def all_of(documents: Mapping[str, Document]) -> Iterator[Found]:
    """Every such mistake; of a file that could not be read nothing is said."""
    for kind in KINDS:
        if kind.id is not None and kind.glob in documents:
            yield from _twice(kind.glob, documents[kind.glob], kind.id)
    torch, aten = documents.get("torch.toml", {}), documents.get("aten.toml", {})
    yield from _word_lists(documents.get("words.toml", {}), with_aten(torch, aten))
    yield from _torch_names(torch)
    yield from _declared(torch, aten)
    yield from _library_names(documents.get("torch.toml", {}), documents.get("libraries.toml"))
    yield from _circles(documents.get("facts.toml", {}))
    yield from _misnamed(documents)
    if "families.toml" in documents and "advice.toml" in documents:
        yield from _without_advice(documents["families.toml"], documents["advice.toml"])
    yield from _unbelieved(documents.get("beliefs.toml"), documents.get("corrections.toml", {}))
    yield from _in_two_tables(documents.get("operators.toml", {}))


def _tables(value: Any) -> list[Document]:
    """The tables of a list of tables; whatever else is there counts as an empty one."""
    items = value if isinstance(value, list) else []
    return [item if isinstance(item, dict) else {} for item in items]


def _twice(name: str, document: Document, key: str) -> Iterator[Found]:
    for table, entries in document.items():
        first: dict[str, int] = {}
        for position, entry in enumerate(_tables(entries)):
            value = entry.get(key)
            if isinstance(value, str) and first.setdefault(value, position) != position:
                yield name, (table, position, key), f"{value!r} stands there twice"


def with_aten(torch: Document, aten: Document) -> Document:
    """The lists of torch.toml with what aten.toml adds to them."""
    return {**torch, **{key: [*_texts(torch.get(key)), *_texts(aten[key])] for key in aten}}


def _declared(torch: Document, aten: Document) -> Iterator[Found]:
    """Names of torch.toml that torch declares itself."""
    for key, declared in aten.items():
        for position, name in enumerate(_texts(torch.get(key))):
            if name in _texts(declared):
                yield "torch.toml", (key, position), f"{name!r} stands in aten.toml too"


def word_lists(words: Document, torch: Document) -> dict[str, str]:
    """What each list of words.toml and torch.toml stands for; nothing where it is not as it should be."""
    listed = [name for name in torch if isinstance(torch[name], list) and name != "functions"]
    lists, found = patterns(torch) | _lists(words), dict.fromkeys([*listed, *words], "")
    for name in lists:
        with suppress(UnknownListError):
            pattern = alternation(name, lists)
            found[name] = "" if regex_mistake(pattern) else pattern
    return found


def _lists(document: Document) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(words)
        for name, words in document.items()
        if isinstance(words, list) and words and all(isinstance(word, str) for word in words)
    }


def _word_lists(document: Document, torch: Document) -> Iterator[Found]:
    for name in NEEDED if document else ():
        if name not in document:
            yield "words.toml", (name,), "is missing: the engine looks for its words"
    lists = _lists(document)
    for name in lists:
        if name in torch:
            yield "words.toml", (name,), "stands in torch.toml too"
        try:
            pattern = alternation(name, patterns(torch) | lists)
        except UnknownListError as error:
            yield "words.toml", (name,), str(error)
        else:
            if mistake := regex_mistake(pattern):
                yield "words.toml", (name,), f"is not a regular expression: {mistake}"


#: Lists of torch.toml whose names stand in another one, too.
_PARTS = {"host-factories": "other-factories", "module-results": "module-methods"}


def _torch_names(document: Document) -> Iterator[Found]:
    """Functions that are there twice, keywords of operands that none takes, names that a list lacks."""
    first: dict[str, int] = {}
    operands: set[str] = set()
    functions = _tables(document.get("functions"))
    for position, entry in enumerate(functions):
        operands.update(_texts(entry.get("takes")))
        for name in _texts(entry.get("names")):
            if first.setdefault(name, position) != position:
                yield "torch.toml", ("functions", position, "names"), f"{name!r} stands there twice"
    keywords = document.get("keywords")
    for name in keywords if isinstance(keywords, dict) and functions else ():
        if name not in operands:
            yield "torch.toml", ("keywords", name), "is an operand that no function takes"
    for part, whole in _PARTS.items():
        names = _texts(document.get(whole))
        for position, name in enumerate(_texts(document.get(part))):
            if names and name not in names:
                yield "torch.toml", (part, position), f"{name!r} is not among {whole}"


def _library_names(torch: Document, libraries: Document | None) -> Iterator[Found]:
    known = names(libraries or {}, "library", "name")
    for key in torch:
        listed = _texts(torch[key]) if known and key.endswith("-libraries") else ()
        for position, name in enumerate(listed):
            if name not in known:
                yield "torch.toml", (key, position), f"{name!r} is no library of libraries.toml"


def _texts(value: Any) -> list[str]:
    """The texts of a list; none of whatever else is there."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def order(facts: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The facts with every combination behind those that it names, else as they stand; and the circles.

    Args:
        facts: facts.toml, or whatever of it is well formed.
    """
    ordered: dict[str, None] = {}
    circles: list[list[str]] = []

    def visit(fact: str, way: list[str]) -> None:
        if fact in way:
            circle = way[way.index(fact) :]
            if set(circle) not in map(set, circles):
                circles.append(circle)
        elif fact not in ordered and fact in facts:
            for other in _named(facts[fact]):
                visit(other, [*way, fact])
            ordered.setdefault(fact)

    for fact in facts:
        visit(fact, [])
    return list(ordered), circles


def _named(fact: Any) -> list[str]:
    """The facts that a fact is made of."""
    lists = [fact.get(key) for key in ("all", "none")] if isinstance(fact, dict) else []
    return [one for some in lists if isinstance(some, list) for one in some if isinstance(one, str)]


def _circles(facts: Document) -> Iterator[Found]:
    for circle in order(facts)[1]:
        start = min(circle, key=list(facts).index)
        at = circle.index(start)
        way = " -> ".join([*circle[at:], *circle[:at], start])
        follower = [*circle[at:], *circle[:at], start][1]
        key = "all" if follower in (facts[start].get("all") or ()) else "none"
        yield "facts.toml", (start, key), f"goes in a circle: {way}"


def _misnamed(documents: Mapping[str, Document]) -> Iterator[Found]:
    for name, document in documents.items():
        path = PurePosixPath(name)
        if fnmatchcase(name, "causes/*.toml"):
            wanted, where = path.stem, "the file's name"
        elif fnmatchcase(name, "cases/*/case.toml"):
            wanted, where = path.parent.name, "the folder's name"
        else:
            continue
        value = document.get("id", wanted)
        if isinstance(value, str) and value != wanted:
            yield name, ("id",), f"must be {wanted!r}, as {where}"


def names(document: Document, table: str, key: str) -> set[str]:
    """What the entries of a list of tables say at a key."""
    found = (entry.get(key) for entry in _tables(document.get(table)))
    return {one for one in found if isinstance(one, str)}


def families(document: Document) -> set[str]:
    """The families that the rules of families.toml tell."""
    return names(document, "rule", "family")


def topics(document: Document) -> set[str]:
    """What the wordings of messages.toml are about."""
    return {one for entry in _tables(document.get("wording")) for one in _texts(entry.get("says"))}


def _without_advice(rules: Document, advice: Document) -> Iterator[Found]:
    entries = _tables(advice.get("advice"))
    general = {entry.get("family") for entry in entries if "pattern" not in entry}
    for family in sorted((families(rules) | {OTHER}) - general):
        reason = f"holds no entry without a pattern for the family {family!r}"
        yield "advice.toml", ("advice",), reason


def _unbelieved(beliefs: Document | None, corrections: Document) -> Iterator[Found]:
    """Learning corrects what a person believes, and nothing else."""
    for cause, row in corrections.items() if beliefs is not None else ():
        believed = beliefs.get(cause) if beliefs else None
        for fact in row if isinstance(row, dict) else ():
            if not isinstance(believed, dict) or fact not in believed:
                yield "corrections.toml", (cause, fact), "corrects what beliefs.toml does not name"


def _in_two_tables(operators: Document) -> Iterator[Found]:
    first: dict[str, str] = {}
    for table, names in operators.items():
        for position, name in enumerate(names if isinstance(names, (list, dict)) else ()):
            if isinstance(name, str) and first.setdefault(name, table) != table:
                at = position if isinstance(names, list) else name
                yield "operators.toml", (table, at), f"{name!r} stands in {first[name]} too"
