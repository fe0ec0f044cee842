"""causes/*.toml, fixes.toml, questions.toml: root causes, ways to mend them, what tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from diagnose.compiling.models.strict import (
    LANGS,
    CauseId,
    Check,
    Code,
    Command,
    FactId,
    FixId,
    General,
    Regex,
    Sentences,
    Strict,
    StrictRoot,
    Text,
    at_most,
    filled,
    wrong,
)
from diagnose.model import Edits
from diagnose.placeholders import ALWAYS, PLACEHOLDERS, placeholders

#: Likelihoods of a cause's answers may differ from 1 in sum by what rounding in a table makes.
_ROUNDING = 0.02

Gpus = Annotated[int, Field(ge=1, le=64)]
_Facts = Annotated[tuple[FactId, ...], Field(strict=False)]


class CauseTexts(Strict):
    """A cause in one language."""

    title: Annotated[str, at_most(80)]
    why: Text
    tell: Text = Field(description="How to tell it from its neighbours.")


class FixExample(Strict):
    """Another example of a fix, shown in place of its own where a fact holds."""

    shown_with: Annotated[tuple[FactId, ...], Field(strict=False, min_length=1)]
    before: Text
    after: Text


class FixEntry(Strict):
    """One way to mend a cause."""

    kind: FixId
    en: Text
    zh: Text
    before: Text | None = None
    after: Text | None = None
    command: Command | None = None
    first_with: _Facts = Field((), description="Facts with which it comes before the others.")
    examples: Annotated[tuple[FixExample, ...], Field(strict=False)] = Field(
        (), description="Shown in place of before and after where a fact calls for it."
    )


class CauseFile(Strict):
    """A root cause."""

    id: Text
    prior: Annotated[float, Field(ge=0.0001, le=1)]
    gpus: Gpus = Field(description="How many GPUs its example needs.")
    checks: Annotated[tuple[Check, ...], Field(strict=False)]
    edits: Edits = Field("own", description="Whose line is to be edited.")
    simulated: bool = Field(True, description="False: the example cannot run on simulated GPUs.")
    reason: Text | None = Field(None, description="Why it cannot.")
    en: CauseTexts
    zh: CauseTexts
    rather: dict[CauseId, Sentences] = Field(default_factory=dict)
    fixes: Annotated[tuple[FixEntry, ...], Field(strict=False, min_length=1)]


class GeneralFix(Sentences):
    """A way to mend a placement error, and the words by which an incident's texts tell of it."""

    told: Regex | None = Field(
        None, description="What an incident that names the fix says in English, in any case."
    )


class Fixes(StrictRoot[dict[str, GeneralFix]]):
    """One general sentence for each way to fix a placement error."""


# --- questions ----------------------------------------------------------------------------------------


class QuestionTexts(Strict):
    """A question in one language."""

    ask: Annotated[str, at_most(200), filled(PLACEHOLDERS)]
    general: Annotated[str, at_most(200), filled(ALWAYS)] | None = Field(
        None, validate_default=True
    )

    @field_validator("general")
    @classmethod
    def _needed(cls, general: str | None, info: ValidationInfo) -> str | None:
        if general is None and placeholders(info.data.get("ask", "")) - ALWAYS:
            raise wrong("is missing: a placeholder of ask may have no value")
        return general


Likelihood = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Reply = Annotated[General, Field(max_length=120)]


class AnswerEntry(Strict):
    """A possible answer."""

    en: _Reply
    zh: _Reply
    causes: dict[CauseId, Likelihood] = Field(
        {}, description="How likely this answer is if that cause is the right one."
    )
    others: Likelihood | None = None


class QuestionEntry(Strict):
    """A question that tells causes apart."""

    all: _Facts | None = Field(None, description="Facts that must hold.")
    any: _Facts | None = Field(None, description="Facts of which one must hold.")
    none: _Facts | None = Field(None, description="Facts that must not hold.")
    code: Code | None = None
    command: Command | None = None
    en: QuestionTexts
    zh: QuestionTexts
    answers: Annotated[tuple[AnswerEntry, ...], Field(strict=False, min_length=2)]

    @field_validator("answers")
    @classmethod
    def _sums(cls, answers: tuple[AnswerEntry, ...]) -> tuple[AnswerEntry, ...]:
        rows = likelihoods(answers)
        if not rows:
            raise wrong("name no cause")
        rows["others"] = [answer.others for answer in answers]
        sums = {
            name: sum(value or 0.0 for value in row)
            for name, row in rows.items()
            if None not in row or sum(value or 0.0 for value in row) > 1
        }
        bad = {name: total for name, total in sums.items() if abs(total - 1) > _ROUNDING}
        if bad:
            told = ", ".join(f"of {name} add up to {total:.2f}" for name, total in bad.items())
            raise wrong(f"the likelihoods {told}; they must add up to 1")
        return answers

    def value(self) -> dict[str, Any]:
        """The rule as the engine reads it, with its texts in both languages."""
        asked = {key: list(facts) for key in ("all", "any", "none")
                 if (facts := getattr(self, key)) is not None}  # fmt: skip
        texts = {}
        for lang in LANGS:
            one: QuestionTexts = getattr(self, lang)
            replies = [getattr(answer, lang) for answer in self.answers]
            texts[lang] = {"ask": one.ask, "general": one.general, "answers": replies}
        rows = likelihoods(self.answers)
        return {
            **asked,
            "code": self.code,
            "command": self.command,
            "texts": texts,
            "likelihood": {cause: _shared(row) for cause, row in sorted(rows.items())},
            "others": _shared([answer.others for answer in self.answers]),
        }


class Questions(StrictRoot[dict[str, QuestionEntry]]):
    """What to ask where no cause is sure; cheap questions stand first."""


def likelihoods(answers: Sequence[AnswerEntry]) -> dict[str, list[float | None]]:
    """For each cause that an answer names how likely each answer is, as far as it is said."""
    named = dict.fromkeys(cause for answer in answers for cause in answer.causes)
    return {cause: [answer.causes.get(cause) for answer in answers] for cause in named}


def _shared(row: Sequence[float | None]) -> list[float]:
    """The row with what is left of 1 shared out among its gaps."""
    total, gaps = sum(value or 0.0 for value in row), row.count(None)
    share = max(0.0, 1 - total) / (gaps or 1)
    shared = [share if value is None else value for value in row]
    whole = sum(shared) or 1.0
    return [round(value / whole, 4) for value in shared]
