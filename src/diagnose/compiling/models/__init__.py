"""What each file of kb/ may hold, as pydantic models: one module a subject, all of them in `KINDS`."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import BaseModel

from diagnose.compiling.models.causes import CauseFile, Fixes, Questions
from diagnose.compiling.models.checks import Accelerator, Checks
from diagnose.compiling.models.facts import Facts, Weights
from diagnose.compiling.models.incidents import CaseFile
from diagnose.compiling.models.messages import Families, GrammarFile, Libraries, Messages, Notions
from diagnose.compiling.models.names import Aten, Effects, TorchNames, Words
from diagnose.compiling.models.others import (
    Advice,
    DescriptionsFile,
    Extensions,
    Operands,
    Operators,
    Redaction,
    Repairs,
    Strays,
    Symptoms,
)


class Kind(NamedTuple):
    """A kind of TOML file: its name or glob, and what it may hold. ``id`` names the key by which the
    entries of its one list are told apart."""

    glob: str
    model: type[BaseModel]
    id: str | None = None


KINDS = (
    Kind("words.toml", Words),
    Kind("torch.toml", TorchNames),
    Kind("aten.toml", Aten),
    Kind("effects.toml", Effects),
    Kind("messages.toml", Messages, "id"),
    Kind("grammar.toml", GrammarFile, "id"),
    Kind("notions.toml", Notions, "id"),
    Kind("families.toml", Families, "id"),
    Kind("libraries.toml", Libraries, "name"),
    Kind("facts.toml", Facts),
    Kind("beliefs.toml", Weights),
    Kind("corrections.toml", Weights),
    Kind("questions.toml", Questions),
    Kind("fixes.toml", Fixes),
    Kind("checks.toml", Checks),
    Kind("accelerator.toml", Accelerator),
    Kind("operands.toml", Operands),
    Kind("operators.toml", Operators),
    Kind("strays.toml", Strays),
    Kind("extensions.toml", Extensions),
    Kind("advice.toml", Advice, "id"),
    Kind("repairs.toml", Repairs),
    Kind("device_map.toml", Repairs),
    Kind("redaction.toml", Redaction, "id"),
    Kind("causes/*.toml", CauseFile),
    Kind("cases/*/case.toml", CaseFile),
    Kind("descriptions/*.toml", DescriptionsFile),
    Kind("*symptoms.toml", Symptoms),
)
