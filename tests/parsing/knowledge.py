"""The project's own knowledge, and `parse` with it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

import diagnose.parsing
from diagnose._toml import loads
from diagnose.compiling.crosschecks import with_aten
from diagnose.compiling.models import names
from diagnose.compiling.models.messages import Families, GrammarFile, Libraries, Messages
from diagnose.compiling.words import alternations, patterns
from diagnose.model import FamilyRule, Grammar, Knowledge, Library, Report, TorchNames, Wording

KB = Path(__file__).resolve().parents[2] / "kb"
_Model = TypeVar("_Model", bound=BaseModel)


def _read(name: str, model: type[_Model]) -> _Model:
    torch = with_aten(_toml("torch.toml"), _toml("aten.toml"))
    words = alternations({**patterns(torch), **_toml("words.toml")})
    return model.model_validate(_toml(name), context={"words": words})


def _toml(name: str) -> dict[str, Any]:
    return loads((KB / name).read_text(encoding="utf-8"))


@cache
def wordings() -> tuple[Wording, ...]:
    return tuple(entry.value() for entry in _read("messages.toml", Messages).wording)


@cache
def grammar() -> Grammar:
    return _read("grammar.toml", GrammarFile).value()


@cache
def libraries() -> tuple[Library, ...]:
    return tuple(entry.value() for entry in _read("libraries.toml", Libraries).library)


@cache
def families() -> tuple[FamilyRule, ...]:
    return tuple(entry.value() for entry in _read("families.toml", Families).rule)


@cache
def torch() -> TorchNames:
    found = _read("torch.toml", names.TorchNames).beside(_read("aten.toml", names.Aten))
    effects = _read("effects.toml", names.Effects).value(found)
    return TorchNames.of({**found.value(), "effects": effects})


@cache
def knowledge() -> Knowledge:
    return Knowledge(
        wordings=wordings(), grammar=grammar(), libraries=libraries(), families=families()
    )


def parse(data: bytes | str, source: str = "-") -> Report:
    return diagnose.parsing.parse(data, source, knowledge=knowledge())
