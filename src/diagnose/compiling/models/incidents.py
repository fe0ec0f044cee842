"""cases/*/case.toml: documented incidents."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from diagnose.compiling.models.causes import Gpus
from diagnose.compiling.models.strict import CauseId, FixId, Strict, Text, Texts, at_most, wrong


def _https(url: str) -> str:
    if not url.startswith("https://"):
        raise wrong("must be an https address")
    return url


class IncidentTexts(Strict):
    """An incident in one language, in our own words."""

    title: Annotated[str, at_most(100)]
    saw: Text
    was: Text
    mended: Text


class SourceEntry(Strict):
    """An address and what it supports."""

    url: Annotated[Text, AfterValidator(_https)]
    supports: Text


class CaseFile(Strict):
    """One documented incident: facts only."""

    id: Text
    cause: CauseId
    exception: Text | None = None
    message: Text | None = None
    op: Text | None = None
    argument: Text | None = None
    devices: Texts = ()
    libraries: Texts = ()
    frames: Texts = Field((), description='"path/file.py function", outermost first.')
    fixes: Annotated[tuple[FixId, ...], Field(strict=False)]
    gpus: Gpus
    needs: Texts = Field(description="The packages that reproduce.py imports.")
    versions: dict[str, Text] = Field(default_factory=dict)
    family: Text = Field("device-placement", description="What the answer says it is.")
    silent: bool = Field(False, description="It raises no error.")
    simulated: bool = Field(True, description="False: it cannot run on simulated GPUs.")
    reason: Text | None = Field(None, description="Why it cannot.")
    en: IncidentTexts
    zh: IncidentTexts
    sources: Annotated[tuple[SourceEntry, ...], Field(strict=False, min_length=1)]

    @field_validator("silent")
    @classmethod
    def _nothing_raised(cls, silent: bool, info: ValidationInfo) -> bool:
        if silent and (said := [k for k in ("exception", "message") if info.data.get(k)]):
            raise wrong(f"contradicts {', '.join(said)}: a silent incident raises no error")
        return silent
