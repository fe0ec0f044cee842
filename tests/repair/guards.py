"""What the guards say, as the tests ask them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, cast

from diagnose.repair.model import Candidate, Guard, Ran
from diagnose.repair.patch import Patch
from diagnose.repair.validation.case import Case, Unexercised
from diagnose.repair.validation.guards import STATIC, objections
from diagnose.repair.words import told
from diagnose.repair.workspace import Workspace


class Told(NamedTuple):
    """A guard's objection, in English."""

    id: str
    holds: bool | None
    sentence: str


def in_english(guard: Guard) -> Told:
    return Told(guard.id, guard.holds, told("en", guard.sentence))


def told_by(look: Callable[..., Any] | ModuleType, before: str, after: str) -> list[Told]:
    """What a guard, or those of a module, tell against a text with edits."""
    patch = Patch(before, after)
    name = getattr(look, "__name__", "")
    asked = (one for one in STATIC if look is one.look or name == one.look.__module__)
    return [in_english(found) for one in asked for found in objections(one, patch)]


def guards_of_run(
    look: Callable[[Case], Iterator[Guard]],
    ran: Ran,
    applied: Sequence[Candidate] = (),
    *,
    wanted: Ran | None = None,
    patches: Mapping[str, Patch] | None = None,
    text: str = "",
    unexercised: Sequence[Unexercised] = (),
) -> list[Told]:
    """What a guard says of a run; ``text`` is what each file of the edits was."""
    workspace = cast("Workspace", SimpleNamespace(folder=Path("/p"), text=lambda _: text))
    case = Case(workspace, patches or {}, applied, wanted or Ran(0), ran, unexercised)
    return [in_english(one) for one in look(case)]
