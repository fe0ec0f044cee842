"""facts.toml, beliefs.toml and corrections.toml: what a report may show, and what that speaks for."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from diagnose.compiling.literals import required
from diagnose.compiling.models.strict import (
    CauseId,
    FactId,
    Regex,
    Strict,
    StrictRoot,
    Text,
    Topic,
    Verbatim,
    Which,
    filled,
    wrong,
)
from diagnose.facts.rules import NAMES

#: The keys that are matched against the report as a whole, in the order in which they are tried.
MATCHERS = (
    *("type", "message", "op", "argument", "pair", "context", "described"),
    *("library", "operand"),
)

_Sentence = Annotated[Text, filled(NAMES)]
_Facts = Annotated[tuple[FactId, ...], Field(strict=False, min_length=1)]


class FrameEntry(Strict):
    """Matchers of one frame."""

    which: Which = Field("any", description="The frame that is looked at.")
    file: Regex | None = None
    function: Regex | None = None
    code: Regex | None = None
    library: Regex | None = Field(None, validate_default=True)

    @field_validator("library")
    @classmethod
    def _any(cls, library: str | None, info: ValidationInfo) -> str | None:
        keys = ("file", "function", "code")
        if library is None and all(key in info.data and info.data[key] is None for key in keys):
            raise wrong("is missing: a frame needs one of file, function, code, library")
        return library

    def value(self) -> dict[str, str]:
        """The patterns, then which frame they are for."""
        parts = {key: value for key, value in self if key != "which" and value is not None}
        return {**parts, "which": self.which}


_FrameLine = Annotated[tuple[Verbatim, Verbatim, Verbatim], Field(strict=False)]


class ExampleEntry(Strict):
    """A small report beside a fact (`diagnose.authoring.examples`)."""

    frames: Annotated[tuple[_FrameLine, ...], Field(strict=False)] = Field(
        (), description="[file, function, source line] of each, outermost first."
    )
    message: Text | None = None
    devices: Annotated[tuple[Text, Text], Field(strict=False)] = ("cuda:0", "cpu")
    type: Text = "RuntimeError"
    log: Text | None = Field(None, description="What stands before the traceback.")
    said: Text | None = Field(None, description="What a person says who has no traceback.")


_Examples = Annotated[tuple[ExampleEntry, ...], Field(strict=False)]


class FactEntry(Strict):
    """Something that a report may show; without matchers and `all` it is computed in diagnose.facts."""

    en: _Sentence
    zh: _Sentence
    says: Topic | None = Field(None, description="What the message's wording is about.")
    type: Regex | None = None
    message: Regex | None = None
    op: Regex | None = None
    argument: Regex | None = None
    pair: Regex | None = Field(None, description="Kinds of the devices, such as gpu-cpu.")
    context: Regex | None = Field(None, description="A line of the log outside the traceback.")
    described: Regex | None = Field(
        None, description="A sentence of somebody who describes the failure."
    )
    library: Regex | None = Field(None, description="A third-party package in the frames.")
    operand: Regex | None = Field(None, description="An operand that may be misplaced.")
    frame: FrameEntry | None = None
    all: _Facts | None = Field(None, description="Facts that must all hold.")
    none: _Facts | None = Field(None, description="With `all`: facts that must not hold.")

    examples: _Examples = Field((), description="Reports that show it.")
    unlike: _Examples = Field((), alias="not", description="Reports like those that do not.")

    @field_validator("all")
    @classmethod
    def _alone(cls, facts: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if matchers := [
            key for key in ("says", *MATCHERS, "frame") if info.data.get(key) is not None
        ]:
            raise wrong(
                f"contradicts {', '.join(matchers)}: a fact is matched or made of others, not both;"
                " make the matchers a fact of their own and name it here"
            )
        return facts

    @field_validator("none")
    @classmethod
    def _beside_all(cls, facts: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if "all" in info.data and info.data["all"] is None:
            raise wrong("says nothing without `all`")
        if both := sorted(set(info.data.get("all") or ()) & set(facts)):
            raise wrong(f"names {', '.join(both)}, which stands in `all` too: it would never hold")
        return facts

    def value(self) -> dict[str, Any]:
        """The rule as the engine reads it."""
        when = {key: found for key in MATCHERS if (found := getattr(self, key)) is not None}
        says = {"says": self.says} if self.says else {}
        frame = self.frame.value() if self.frame else {}
        patterns = when | {f"frame.{k}": text for k, text in frame.items() if k != "which"}
        others = {key: list(value) for key in ("all", "none") if (value := getattr(self, key))}
        literals = {key: found for key, text in patterns.items() if (found := required(text))}
        return {"when": when | says, "frame": frame, **others, "literals": literals}


class Facts(StrictRoot[dict[str, FactEntry]]):
    """What a report may show: one fact a table, with the sentence that states it as evidence."""


def _finite(number: float) -> float:
    if not -20 <= number <= 20:  # nor is nan
        raise wrong("must lie between -20 and 20")
    return number


LogOdds = Annotated[float, AfterValidator(_finite)]


class Weights(StrictRoot[dict[CauseId, dict[FactId, LogOdds]]]):
    """For each cause how much each fact speaks for (or against) it, in log-odds."""
