"""cases/*/case.toml: documented incidents."""

from __future__ import annotations

import datetime
import re
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from diagnose.compiling.models.causes import Gpus
from diagnose.compiling.models.strict import (
    CauseId,
    FixId,
    Strict,
    Text,
    Texts,
    at_most,
    near,
    wrong,
)
from diagnose.versions import version, version_set

_INFERRED = re.compile(r"(?P<field>[a-z_]+)(?P<inner>[.\[]\S*)?: \S.*", re.DOTALL)


def _https(url: str) -> str:
    if not url.startswith("https://"):
        raise wrong("must be an https address")
    return url


def _version(text: str) -> str:
    if version(text) is None:
        raise wrong(f"{text!r} is no version (PEP 440), such as 0.7.1")
    return text


def _versions(text: str) -> str:
    if version_set(text) is None:
        raise wrong(f"{text!r} is no set of versions (PEP 440), such as >=0.6.0,<0.7.1")
    return text


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


class ReviewEntry(Strict):
    """A second reading by somebody else than the writer."""

    on: datetime.date
    seen: Text = Field(description='What of the thread was read: "the whole thread", "an excerpt".')


class ReleaseEntry(Strict):
    """The releases of a library that have the bug, and what mends it."""

    library: Text = Field(description="The import name.")
    bad: Annotated[Text, AfterValidator(_versions)] = Field(
        description="The releases that have it, as PEP 440 writes sets: >=0.6.0,<0.7.1"
    )
    fixed: Annotated[Text, AfterValidator(_version)] | None = Field(
        None, description="The first release without it."
    )
    change: Annotated[Text, AfterValidator(_https)] | None = Field(
        None, description="The address of the change that mends it."
    )

    @field_validator("fixed")
    @classmethod
    def _mended(cls, fixed: str | None, info: ValidationInfo) -> str | None:
        bad, one = version_set(info.data.get("bad", "")), version(fixed or "")
        if bad is not None and one is not None and bad.holds(one):
            raise wrong(f"{fixed} is one of the bad ones: {info.data['bad']}")
        return fixed


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
    reviewed: ReviewEntry | None = Field(None, description="Read again by somebody else.")
    by_hand: Text | None = Field(
        None, description="Why reproduce.py has to raise the error's text itself."
    )
    releases: Annotated[tuple[ReleaseEntry, ...], Field(strict=False)] = ()
    inferred: Texts = Field(
        (), description='"field: how", of whatever is stated here and no source shows.'
    )

    @field_validator("silent")
    @classmethod
    def _nothing_raised(cls, silent: bool, info: ValidationInfo) -> bool:
        if silent and (said := [k for k in ("exception", "message") if info.data.get(k)]):
            raise wrong(f"contradicts {', '.join(said)}: a silent incident raises no error")
        return silent

    @field_validator("releases")
    @classmethod
    def _of_libraries(
        cls, releases: tuple[ReleaseEntry, ...], info: ValidationInfo
    ) -> tuple[ReleaseEntry, ...]:
        known = (info.context or {}).get("library")
        own = info.data.get("libraries", ())
        for release in releases:
            if known and release.library not in {*known, *own}:
                raise wrong(
                    f"{release.library!r} is no known library (libraries.toml), and none of the"
                    f" incident's{near(release.library, {*known, *own})}"
                )
        return releases

    @field_validator("inferred")
    @classmethod
    def _of_fields(cls, inferred: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for one in inferred:
            said = _INFERRED.fullmatch(one)
            if said is None:
                raise wrong(f'{one!r} is not written "field: how it was inferred"')
            field = said["field"]
            if field not in {*cls.model_fields, *IncidentTexts.model_fields}:
                raise wrong(f"{field!r} is no field of an incident{near(field, cls.model_fields)}")
            if field in info.data and not info.data[field]:
                raise wrong(f"{field!r} is not stated here: there is nothing to infer")
        return inferred
