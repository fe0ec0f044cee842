"""checks.toml and accelerator.toml: the rules of `diagnose check`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from diagnose.compiling.models.strict import (
    LANGS,
    CauseId,
    FixId,
    Strict,
    StrictRoot,
    at_most,
    filled,
    wrong,
)
from diagnose.model import Safety


class CheckTexts(Strict):
    """A rule in one language."""

    says: Annotated[str, at_most(120), filled({"name"})]
    because: Annotated[str, at_most(160), filled(())] | None = Field(
        None, description="Why its fix is not safe."
    )


class CheckEntry(Strict):
    """A root cause that is found in source."""

    fixes: Annotated[tuple[FixId, ...], Field(strict=False, min_length=1)] = Field(
        description="What mends it; the first that fits is made."
    )
    safety: Safety
    preview: bool = Field(False, description="Reported with --preview only.")
    en: CheckTexts
    zh: CheckTexts

    @field_validator("en", "zh")
    @classmethod
    def _reasoned(cls, texts: CheckTexts, info: ValidationInfo) -> CheckTexts:
        safe = info.data.get("safety") == "safe"
        if "safety" in info.data and safe != (texts.because is None):
            raise wrong(
                "`because` says why a fix is not safe, and this one is"
                if safe
                else "`because` is missing: why is the fix not safe?"
            )
        return texts

    def value(self) -> dict[str, Any]:
        """The rule as `diagnose.checking` reads it, with its texts in both languages."""
        texts = {lang: getattr(self, lang).model_dump() for lang in LANGS}
        return {
            "fixes": list(self.fixes),
            "safety": self.safety,
            "preview": self.preview,
            "texts": texts,
        }


class Checks(StrictRoot[dict[CauseId, CheckEntry]]):
    """One rule a root cause, in the order in which docs/checking.md lists them."""


class Twin(Strict):
    """What torch.accelerator has for a name of torch.cuda."""

    to: Annotated[str, Field(pattern=r"^torch(\.\w+)+$")]
    since: Annotated[str, Field(pattern=r"^2\.\d+$")] = Field(
        description="The first torch with it."
    )


class Places(Strict):
    """Where a string is a device."""

    keywords: Annotated[tuple[str, ...], Field(strict=False)]
    first: Annotated[tuple[str, ...], Field(strict=False)]
    lenient: Annotated[tuple[str, ...], Field(strict=False)]


class Reasons(Strict):
    """Why a form for any accelerator is not safe."""

    host: Annotated[str, at_most(160), filled(())]
    none: Annotated[str, at_most(160), filled(())]
    release: Annotated[str, at_most(160), filled({"since"})]


class AcceleratorTexts(Strict):
    """The rule `accelerator` in one language."""

    title: Annotated[str, at_most(120), filled(())]
    why: Annotated[str, at_most(160), filled(())]
    tell: Annotated[str, at_most(160), filled(())]
    says: Annotated[str, at_most(120), filled({"name"})]
    left: Annotated[str, at_most(120), filled({"name"})]
    because: Reasons


class Accelerator(Strict):
    """accelerator.toml: what code says for CUDA alone."""

    twins: dict[str, Twin]
    places: Places
    en: AcceleratorTexts
    zh: AcceleratorTexts

    def value(self) -> dict[str, Any]:
        """The rule as `diagnose.checking` reads it, with its texts in both languages."""
        twins = {name: [one.to, one.since] for name, one in self.twins.items()}
        texts = {lang: getattr(self, lang).model_dump() for lang in LANGS}
        return {"twins": twins, "texts": texts, **self.places.model_dump(mode="json")}
