"""What the models of kb/'s files are made of: a base that allows nothing unsaid, and checked texts.

A validator of one field runs whatever the other fields are, so that all mistakes of an entry are told at
once: checks stand with the last field they need, and ask for the earlier ones.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Annotated, Generic, Literal, TypeVar, get_args

import regex
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from diagnose.compiling.words import NAME, UnknownListError, expanded
from diagnose.model import Lang
from diagnose.placeholders import ALWAYS, PLACEHOLDERS, fill, placeholders

LANGS: tuple[Lang, ...] = get_args(Lang)
#: So that a line of code fits into 80 columns where it is shown.
_WIDEST = 70
_NEAR = 3
_Root = TypeVar("_Root")
#: How many ids are listed where one is not known.
_LISTED = 40

#: What a validation is told about the other files: for each kind of id the known ones, and for the lists of
#: words.toml ("words") what each stands for. What is not there could not be read, which is told already;
#: its ids then pass.
Known = Mapping[str, Mapping[str, str] | Collection[str]]


class Strict(BaseModel):
    """A table whose every key is known and of one type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class StrictRoot(RootModel[_Root], Generic[_Root]):
    """A file that is one table of entries, whose keys are ids."""

    model_config = ConfigDict(frozen=True, strict=True)


def wrong(reason: str) -> PydanticCustomError:
    """What a validator raises; ``reason`` goes on from "file: key: "."""
    return PydanticCustomError("kb", "{reason}", {"reason": reason})


# --- ids --------------------------------------------------------------------------------------------


def near(value: str, known: Iterable[str]) -> str:
    """What goes on after an unknown word: the known ones that look like it, else all, if they are few."""
    allowed = sorted(known)
    if found := difflib.get_close_matches(value, allowed, n=_NEAR):
        return f"; did you mean {' or '.join(found)}?"
    return f"; allowed: {', '.join(allowed)}" if len(allowed) <= _LISTED else ""


def _known(kind: str, where: str) -> AfterValidator:
    """The check that an id is one that another file of kb/ defines."""

    def check(value: str, info: ValidationInfo) -> str:
        known = (info.context or {}).get(kind)
        if known is not None and value not in known:
            raise wrong(f"{value!r} is not a known {kind} ({where}){near(value, known)}")
        return value

    return AfterValidator(check)


def _offered(kind: str) -> WithJsonSchema:
    """What `diagnose.compiling.schemas` puts the known ids of a kind into."""
    return WithJsonSchema({"type": "string", "known": kind})


CauseId = Annotated[str, _known("cause", "causes/"), _offered("cause")]
FactId = Annotated[str, _known("fact", "facts.toml"), _offered("fact")]
FixId = Annotated[str, _known("fix", "fixes.toml"), _offered("fix")]
Family = Annotated[str, _known("family", "families.toml"), _offered("family")]
Topic = Annotated[str, _known("topic", "says in messages.toml"), _offered("topic")]
Check = Annotated[str, _known("check", "verification/"), _offered("check")]

# --- texts ------------------------------------------------------------------------------------------


def at_most(characters: int) -> StringConstraints:
    """A text that is not blank and no longer; blanks at its ends go."""
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=characters)


Text = Annotated[str, at_most(4000)]
#: As it stands, blanks at its ends included: patterns, literals and examples of messages.
Verbatim = Annotated[str, StringConstraints(min_length=1)]
Texts = Annotated[tuple[Verbatim, ...], Field(strict=False)]
SomeTexts = Annotated[tuple[Verbatim, ...], Field(strict=False, min_length=1)]


def known_placeholders(
    value: str, known: Collection[str], left: str = "{", right: str = "}"
) -> None:
    """Raises where a text holds placeholders that nothing fills."""
    if unknown := sorted(placeholders(value) - set(known)):
        listed = ", ".join(f"{{{name}}}" for name in unknown)
        allowed = " ".join(f"{{{name}}}" for name in sorted(known))
        raise wrong(f"{listed}: no placeholder that is known here; allowed: {allowed}")


def filled(known: Collection[str]) -> AfterValidator:
    """The check that a text holds no placeholders but these."""

    def check(value: str) -> str:
        known_placeholders(value, known)
        return value

    return AfterValidator(check)


def _shown(value: str) -> str:
    if any(len(line) > _WIDEST for line in value.splitlines()):
        raise wrong(f"has a line of more than {_WIDEST} characters")
    return value


def _python(value: str) -> str:
    try:
        ast.parse(fill(value, dict.fromkeys(PLACEHOLDERS, "name")) or "")
    except SyntaxError as error:
        raise wrong(f"is not Python: {error.msg}") from None
    return value


#: A command, and Python, whose placeholders a report may fill.
Command = Annotated[Text, filled(PLACEHOLDERS), AfterValidator(_shown)]
Code = Annotated[Command, AfterValidator(_python)]
#: A text with no placeholder but those that always have a value.
General = Annotated[Text, filled(ALWAYS)]


class Sentences(Strict):
    """One text in each language."""

    en: Text
    zh: Text


# --- regular expressions ------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def regex_mistake(pattern: str) -> str | None:
    """What keeps a regular expression from being compiled."""
    try:
        regex.compile(pattern)
    except regex.error as error:
        return str(error)
    return None


def _compiles(pattern: str, info: ValidationInfo) -> str:
    words = (info.context or {}).get("words")
    if words is None:  # words.toml cannot be read, which is told already
        return pattern
    if any(words.get(name) == "" for name in NAME.findall(pattern)):  # a broken list, told there
        return pattern
    try:
        pattern = expanded(pattern, words)
    except UnknownListError as error:
        name = next(match[1] for match in NAME.finditer(pattern) if match[1] not in words)
        raise wrong(f"{error}{near(name, words)}") from None
    if mistake := regex_mistake(pattern):
        raise wrong(f"is not a regular expression: {mistake}")
    return pattern


#: A regular expression for the module `regex`, in which @name stands for a list of words.toml; as a value
#: it is what that stands for.
Regex = Annotated[Verbatim, AfterValidator(_compiles)]


def matched(
    examples: Iterable[str], pattern: str | None, literals: Collection[str], *, fold: bool = True
) -> None:
    """Raises where a pattern or the literals beside it would not find one of the examples."""
    for example in examples:
        text = " ".join(example.split()) if fold else example
        if pattern and not NAME.search(pattern) and not regex.search(pattern, text, timeout=1):
            raise wrong(f"is not matched by the pattern: {example!r}")
        if literals and not any(literal in text for literal in literals):
            raise wrong(f"holds none of the literals: {example!r}")


Which = Literal["any", "innermost", "site", "own", "outermost"]
