"""messages.toml, families.toml and libraries.toml: what parsing knows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from string import ascii_letters
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, field_validator

from diagnose.compiling.literals import required
from diagnose.compiling.models.strict import (
    Regex,
    SomeTexts,
    Strict,
    Text,
    Texts,
    Topic,
    matched,
    near,
    regex_mistake,
    wrong,
)
from diagnose.model import (
    DEVICE,
    END,
    NAME,
    FamilyRule,
    Form,
    Grammar,
    Library,
    Wording,
)
from diagnose.parsing.grammar import Reader, forms_of

#: A part of a message that asks for something: "Please use torch.load with map_location=...".
_REMEDY = re.compile(
    r"(?:^|[.;:!,]\s+)((?:please\s+)?(?:make sure|ensure|call|use|set|move|pass|specify|convert|load)"
    r"\s(?:[^.;]|\.(?=\S)){8,240})",
    re.IGNORECASE,
)


class WordingEntry(Strict):
    """One wording of a device error."""

    id: Text
    exception: Text = Field(description="The type it is raised as.")
    component: Text = Field(description="Who raises it.")
    versions: Text = Field(description="Where it was seen.")
    pattern: Regex = Field(description="Searched in the message; @name: a list of words.toml.")
    literals: SomeTexts = Field(description="Every match holds at least one of them.")
    device_error: bool = True
    quotes: bool = Field(False, description="It carries the message of another error.")
    says: Texts = Field((), description="What it is about; facts ask for that.")
    examples: SomeTexts = Field(description="Each is recognised by this entry.")

    @field_validator("examples")
    @classmethod
    def _found(cls, examples: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        matched(examples, info.data.get("pattern"), info.data.get("literals", ()))
        return examples

    def value(self) -> Wording:
        """What parsing reads."""
        kept = self.model_dump(exclude={"examples"})
        found = [_REMEDY.search(" ".join(example.split())) for example in self.examples]
        remedies = dict.fromkeys(one[1].strip() for one in found if one is not None)
        return Wording(**kept, demands=required(self.pattern), remedies=tuple(remedies))


class Messages(Strict):
    """Every wording of a device error that torch and the libraries around it are known to print."""

    wording: Annotated[tuple[WordingEntry, ...], Field(strict=False, min_length=1)]


#: A form's notation: a role with a kind of word, or a gap.
_TERM = re.compile(r"(?:([a-z]+)=)?([a-z]+)|\.{2,3}|[\s(]")
_GAPS = {"..": 12, "...": 30}
_KNOWN = {"device": DEVICE, "name": NAME, "end": END}
_OTHERS = [x for x in ascii_letters if x not in _KNOWN.values()]


def _kinds(words: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    if len(words) > len(ascii_letters):
        raise wrong(f"holds {len(words)} kinds, more than there are letters")
    for kind, texts in words.items():
        for text in texts:
            if reason := regex_mistake(text):
                raise wrong(f"{kind}: {text!r} is not a regular expression: {reason}")
    return words


_Texts = Mapping[str, Sequence[str]]
_Kinds = Annotated[dict[str, SomeTexts], AfterValidator(_kinds)]


class FormEntry(Strict):
    """One form of messages about devices."""

    id: Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$")]
    patterns: SomeTexts = Field(description="Kinds of words in a row; .. and ... are gaps.")
    says: Annotated[tuple[Topic, ...], Field(strict=False)] = ()
    examples: SomeTexts = Field(description="Each is read by this form.")

    def value(self, letters: Mapping[str, str]) -> Form:
        """What parsing reads, over the letters of kinds; refused where a pattern is none."""
        for pattern in self.patterns:
            kinds = [term[2] for term in _TERM.finditer(pattern) if term[2]]
            if unknown := [one for one in kinds if one not in letters]:
                known = near(unknown[0], letters)
                raise wrong(f"{self.id}: {unknown[0]!r} is no kind of words{known}")
            if reason := regex_mistake(_over_letters(pattern, letters)):
                raise wrong(f"{self.id}: {pattern!r} is not a regular expression: {reason}")
        return Form(self.id, tuple(_over_letters(x, letters) for x in self.patterns), self.says)


class GrammarFile(Strict):
    """What messages about devices have in common."""

    marks: SomeTexts = Field(description="A message without any of these is not read.")
    words: _Kinds = Field(description="The kinds of words, in the order of trial.")
    others: SomeTexts = Field(description="Messages that no form reads.")
    form: Annotated[tuple[FormEntry, ...], Field(strict=False, min_length=1)]

    @field_validator("words")
    @classmethod
    def _complete(cls, words: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        if lacking := sorted(set(_KNOWN) - set(words)):
            raise wrong(f"lacks {', '.join(lacking)}, which the engine knows")
        return words

    @field_validator("form")
    @classmethod
    def _read(cls, forms: tuple[FormEntry, ...], info: ValidationInfo) -> tuple[FormEntry, ...]:
        if {"marks", "words", "others"} - set(info.data):  # told already
            return forms
        reader = Reader(_grammar(info.data["marks"], info.data["words"], forms))
        for form in forms:
            for example in form.examples:
                if (told := reader.read(example)) is None or told.wording != f"grammar:{form.id}":
                    by = told.wording if told else "no form"
                    raise wrong(f"{form.id}: {example!r} is read by {by}")
        for text in info.data["others"]:
            if (told := reader.read(text)) is not None:
                raise wrong(f"{told.wording} reads {text!r}, which stands among others")
        return forms

    def value(self) -> Grammar:
        """What parsing reads."""
        return _grammar(self.marks, self.words, self.form)


class NotionEntry(FormEntry):
    """Something that sentences of people assert."""

    says: Annotated[tuple[Literal["placement", "outcome"], ...], Field(strict=False)] = ()
    counts: float = Field(description="Log-odds for a device failure, if a text asserts it.")
    unlike: SomeTexts = Field(alias="not", description="Sentences that do not assert it.")

    def value(self, letters: Mapping[str, str]) -> Form:
        """As of every form, with what it counts."""
        return super().value(letters)._replace(counts=self.counts)


class Notions(Strict):
    """What people say who describe a failure."""

    words: _Kinds = Field(description="The kinds of words, in the order of trial.")
    form: Annotated[tuple[NotionEntry, ...], Field(strict=False, min_length=1)]

    @field_validator("form")
    @classmethod
    def _read(cls, forms: tuple[NotionEntry, ...], info: ValidationInfo) -> tuple[NotionEntry, ...]:
        if "words" in info.data:
            notions = _grammar((), info.data["words"], forms, _WHOLE)
            for form in forms:
                for text in (*form.examples, *form.unlike):
                    found = any(one.id == form.id for one in forms_of(text, notions))
                    if found is not (text in form.examples):
                        raise wrong(f"{form.id} {'is' if found else 'is not'} read in {text!r}")
        return forms

    def value(self) -> Grammar:
        """What parsing reads."""
        return _grammar((), self.words, self.form, _WHOLE)


#: Of whole words of letters: Chinese has no spaces.
_WHOLE = r"(?ai)(?!(?<=\w)\w)(?:{})(?!(?<=\w)\w)"


def _grammar(
    marks: Sequence[str], kinds: _Texts, forms: Sequence[FormEntry], words: str = "(?i){}"
) -> Grammar:
    letters = _letters(kinds)
    held = "|".join(f"(?P<{letters[kind]}>{'|'.join(texts)})" for kind, texts in kinds.items())
    return Grammar(marks, words.format(held), tuple(form.value(letters) for form in forms))


def _letters(kinds: Iterable[str]) -> dict[str, str]:
    others = iter(_OTHERS)
    return {kind: _KNOWN.get(kind) or next(others) for kind in kinds}


def _over_letters(pattern: str, letters: Mapping[str, str]) -> str:
    """A form's pattern as a regular expression over the letters of words."""

    def term(match: re.Match[str]) -> str:
        role, kind = match.groups()
        if kind is None:
            gap = _GAPS.get(match[0])
            return f"[^{END}]{{0,{gap}}}?" if gap else "(?:" if match[0] == "(" else ""
        return f"(?P<{role}>{letters[kind]})" if role else letters[kind]

    return _TERM.sub(term, pattern)


class FamilyEntry(Strict):
    """One recogniser of a kind of failure other than device placement."""

    id: Text
    family: Text
    types: Texts = Field((), description='Exception class names; ["line"]: a bare log line.')
    pattern: Regex | None = Field(None, description='Searched in "type: message".')
    literals: Texts = Field((), validate_default=True)
    examples: Texts = Field((), validate_default=True)

    @field_validator("literals", "examples")
    @classmethod
    def _with_pattern(cls, texts: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if info.data.get("pattern") and not texts:
            raise wrong("is missing: a pattern needs at least one")
        return texts

    @field_validator("examples")
    @classmethod
    def _found(cls, examples: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        matched(examples, info.data.get("pattern"), info.data.get("literals", ()), fold=False)
        return examples

    def value(self) -> FamilyRule:
        """What parsing reads."""
        return FamilyRule(self.id, self.family, self.pattern or "", self.literals, self.types)


class Families(Strict):
    """Kinds of failure other than device placement: the first rule that fits decides."""

    rule: Annotated[tuple[FamilyEntry, ...], Field(strict=False, min_length=1)]


class LibraryEntry(Strict):
    """A third-party library that is seen in tracebacks of torch programs."""

    name: Text = Field(description="The import name.")
    distributions: Texts = Field((), description="What pip calls it.")
    apis: Texts = Field((), description="Names of its API by which people mean it; * is letters.")
    models: Texts = Field((), description="Names of models that people run with it; * is letters.")
    kind: Text
    marks: Texts = Field((), description="Neighbouring folders by which a checkout is known.")
    called: Texts = Field((), description="What else logs call it that tell its version.")

    def value(self, buggy: Collection[str] = ()) -> Library:
        """What parsing reads; ``buggy`` are the libraries of which a release is known to have a bug."""
        only = self.distributions[0] if len(self.distributions) == 1 else None
        called = (self.name, *self.distributions, *self.called) if self.name in buggy else ()
        called = tuple(dict.fromkeys(called))
        return Library(self.name, self.marks, self.kind, only, called, self.apis, self.models)


class Libraries(Strict):
    """Third-party libraries."""

    library: Annotated[tuple[LibraryEntry, ...], Field(strict=False, min_length=1)]
