"""advice.toml, extensions.toml, operands.toml, operators.toml, redaction.toml, repairs.toml, and the
symptoms that `diagnose explain` knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from diagnose.compiling.models.strict import (
    CauseId,
    Family,
    Regex,
    Sentences,
    SomeTexts,
    Strict,
    StrictRoot,
    Text,
    at_most,
    known_placeholders,
    wrong,
)
from diagnose.model import ANY
from diagnose.naming.origins import VALUES
from diagnose.placeholders import ALWAYS, placeholders

_CODE = r"`[^`]*`"
Role = Literal["input", "weight", "index", "target", "class-weight", "state", "tensor"]
_Advice = Annotated[
    tuple[Annotated[str, at_most(400)], ...],
    Field(strict=False, min_length=3, max_length=3),
]


class AdviceEntry(Strict):
    """What to do about a failure of another family: look, show, mend."""

    id: Text
    family: Family
    pattern: Regex | None = Field(None, description="Its named groups fill placeholders.")
    en: _Advice
    zh: _Advice

    @field_validator("en", "zh")
    @classmethod
    def _filled(cls, sentences: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        import regex

        if "pattern" not in info.data:
            return sentences
        pattern = info.data["pattern"] or ""
        for sentence in sentences:
            known_placeholders(sentence, ALWAYS | set(regex.compile(pattern).groupindex))
            if placeholders(re.sub(_CODE, "", sentence)):
                raise wrong("has a placeholder that does not stand in backticks")
        return sentences


class Advice(Strict):
    """What to do about failures that are not about placement."""

    advice: Annotated[tuple[AdviceEntry, ...], Field(strict=False, min_length=1)]


def _same_fields(said: Sentences) -> Sentences:
    """Both languages speak of the same things."""
    en, zh = (
        {one for _, one, _, _ in Formatter().parse(text) if one} for text in (said.en, said.zh)
    )
    if en != zh:
        raise wrong(f"`en` and `zh` are about different things: {', '.join(sorted(en ^ zh))}")
    return said


class Repairs(StrictRoot[dict[str, Annotated[Sentences, AfterValidator(_same_fields)]]]):
    """What `diagnose fix`, or `check --device-map`, says, with what it is about in braces."""


def _first(roles: dict[str, Role]) -> dict[str, Role]:
    if "first" not in roles:
        raise wrong("`first` is missing: the operand that the check takes as reference")
    return roles


class Operands(StrictRoot[dict[str, Annotated[dict[str, Role], AfterValidator(_first)]]]):
    """For each op the role of each named argument; `first` is the one that the check takes as reference."""


def _origins(tables: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    for name, table in tables.items():
        if strange := [origin for origin in table if origin not in VALUES]:
            raise wrong(f"{name}: there is no origin {strange[0]!r}")
    if missing := [origin for origin in VALUES if origin not in tables.get(ANY, {})]:
        raise wrong(f"`{ANY}` lacks the origin {missing[0]!r}")
    return tables


_Share = Annotated[float, Field(gt=0, le=1)]


class Strays(
    StrictRoot[
        Annotated[dict[Literal["any"] | CauseId, dict[str, _Share]], AfterValidator(_origins)]
    ]
):
    """For each cause, and for any, how likely a value of each origin is the misplaced one."""


_Operator = Annotated[str, StringConstraints(pattern=r"^\w+(\.\w+)?$")]
_Operators = Annotated[tuple[_Operator, ...], Field(strict=False)]
_Qualified = Annotated[str, StringConstraints(pattern=r"^\w+::\w+$")]


class CheckedEntry(Strict):
    """A generated kernel wrapper: its name as printed, and the arguments that it compares."""

    method: Text
    args: SomeTexts


class Operators(Strict):
    """How CUDA checks the devices of an aten operator's tensors; an operator of no table is elementwise."""

    elementwise: _Operators
    elementwise_any_scalars: _Operators
    elementwise_no_scalars: _Operators
    reduction: _Operators
    free: _Operators
    cpu_only: Annotated[tuple[_Qualified, ...], Field(strict=False)]
    reached: dict[_Operator, CheckedEntry]
    checked: dict[_Operator, CheckedEntry]


class AskEntry(Strict):
    """What an extension asks about the devices of some arguments, and how it refuses them."""

    of: SomeTexts
    says: Text = Field(description="`{argument}` is the argument's name.")
    like_first: bool = False


class FunctionEntry(Strict):
    """A function of a compiled extension, and what it asks about its tensors."""

    name: Annotated[str, StringConstraints(pattern=r"^\w+(\.\w+)+$")]
    parameters: SomeTexts
    asks: Annotated[tuple[AskEntry, ...], Field(strict=False, min_length=1)]
    source: Annotated[str, StringConstraints(pattern=r"^https://")]

    @field_validator("asks")
    @classmethod
    def _of_parameters(
        cls, asks: tuple[AskEntry, ...], info: ValidationInfo
    ) -> tuple[AskEntry, ...]:
        for name in (name for ask in asks for name in ask.of):
            if name not in info.data.get("parameters", (name,)):
                raise wrong(f"asks of {name!r}, which is none of the parameters")
        return asks


class Extensions(Strict):
    """Compiled CUDA extensions that simulated GPUs stand in for."""

    function: Annotated[tuple[FunctionEntry, ...], Field(strict=False, min_length=1)]


class Counted(Strict):
    """Words for one and for several."""

    one: Text
    many: Text


class RedactedKind(Strict):
    """What is taken out: what stands in its place, and what it is called."""

    put: Text
    en: Counted
    zh: Counted


class RedactionEntry(Strict):
    """How something is recognised that nobody else may read."""

    id: Text
    kind: Text
    pattern: Regex
    keywords: SomeTexts
    entropy: Annotated[float, Field(ge=0, lt=8, strict=False)] = 0
    setting: Literal["hosts"] | None = None

    @field_validator("pattern")
    @classmethod
    def _names_the_secret(cls, pattern: str) -> str:
        import regex

        if "secret" not in regex.compile(pattern).groupindex:
            raise wrong("has no group `secret`")
        return pattern

    @field_validator("keywords")
    @classmethod
    def _lower(cls, keywords: tuple[str, ...]) -> tuple[str, ...]:
        if upper := [word for word in keywords if word != word.lower()]:
            raise wrong(f"{upper[0]!r} is not in lower case")
        return keywords


class Redaction(Strict):
    """What is taken out of a text before it is stored or sent."""

    kinds: dict[str, RedactedKind]
    rule: Annotated[tuple[RedactionEntry, ...], Field(strict=False, min_length=1)]

    @field_validator("rule")
    @classmethod
    def _of_kinds(
        cls, rules: tuple[RedactionEntry, ...], info: ValidationInfo
    ) -> tuple[RedactionEntry, ...]:
        kinds = info.data.get("kinds")
        for rule in rules:
            if kinds is not None and rule.kind not in kinds:
                raise wrong(f"{rule.id}: there is no kind {rule.kind!r}")
        return rules

    def entries(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The rules as records, each with what stands in the secret's place."""
        for rule in self.rule:
            yield rule.id, {**rule.model_dump(exclude={"id"}), "put": self.kinds[rule.kind].put}


class Stop(Strict):
    """Words, and characters of Chinese, that say nothing about what happened."""

    words: SomeTexts
    particles: Annotated[
        tuple[Annotated[str, StringConstraints(min_length=1, max_length=1)], ...],
        Field(strict=False, min_length=1),
    ]


class Symptoms(Strict):
    """How people say what they see: for each notion the words and phrases that mean it."""

    notions: dict[str, SomeTexts]
    stop: Stop


class Told(Strict):
    """A failure as somebody describes it."""

    text: Annotated[str, at_most(4000)]
    family: str | None = Field(
        None, description="In other.toml: of which family it is, or none if nothing failed."
    )


class DescriptionsFile(Strict):
    """Descriptions of failures of one cause, whose id the file is called by, or of others (other.toml)."""

    en: tuple[Told, ...] = Field((), strict=False)
    zh: tuple[Told, ...] = Field((), strict=False)
