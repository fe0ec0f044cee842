"""messages.toml, families.toml and libraries.toml: what parsing knows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from diagnose.compiling.literals import required
from diagnose.compiling.models.strict import Regex, SomeTexts, Strict, Text, Texts, matched, wrong
from diagnose.model import FamilyRule, Library, Wording


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
        return Wording(**kept, demands=required(self.pattern))


class Messages(Strict):
    """Every wording of a device error that torch and the libraries around it are known to print."""

    wording: Annotated[tuple[WordingEntry, ...], Field(strict=False, min_length=1)]


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
    kind: Text
    marks: Texts = Field((), description="Neighbouring folders by which a checkout is known.")
    called: Texts = Field((), description="What else logs call it that tell its version.")

    def value(self, buggy: Collection[str] = ()) -> Library:
        """What parsing reads; ``buggy`` are the libraries of which a release is known to have a bug."""
        only = self.distributions[0] if len(self.distributions) == 1 else None
        called = (self.name, *self.distributions, *self.called) if self.name in buggy else ()
        return Library(self.name, self.marks, self.kind, only, tuple(dict.fromkeys(called)))


class Libraries(Strict):
    """Third-party libraries."""

    library: Annotated[tuple[LibraryEntry, ...], Field(strict=False, min_length=1)]
