"""A failure that is looked at in its own process, and the edits that it supports.

Who proposes edits (`proposers`) is given the one and gives the other, likeliest first.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import permutations
from types import FrameType
from typing import Any, NamedTuple

from diagnose import tracing
from diagnose.bulkhead import guarded
from diagnose.casebase.store import load
from diagnose.fixes.codemods import define
from diagnose.fixes.codemods.positions import class_around, statement_of
from diagnose.fixes.file_edit import FileEdit, file_edit
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.live_values import Lives
from diagnose.hooks.non_dispatch import Operand
from diagnose.hooks.operands import assigned, value
from diagnose.hooks.positions import Texts
from diagnose.hooks.replay import Met, frames_of, met
from diagnose.kinds import EventKind
from diagnose.placement import Device, Source, Spot, Suspect
from diagnose.placement.devices import written
from diagnose.placement.localization.device_expressions import in_scope
from diagnose.placement.semantics import Function, scope_of
from diagnose.tracing.lives import ModuleLife
from diagnose.tracing.stacks import Line, Stack, is_own

#: What a proposer's codemod gives.
_Codemod = Callable[..., "Change | Sequence[Change]"]


class Proposal(NamedTuple):
    """An edit of a file, with the fix it amounts to; ``stopgap`` where what an object keeps is moved each
    time it is used; ``moves`` the expressions that are moved and the device; ``cause`` where only one is
    meant, ``says`` the sentence about it that says more than the fix does."""

    kind: str
    edit: FileEdit
    stopgap: bool = False
    moves: tuple[str, str] | None = None
    cause: str = ""
    says: str = ""


def proposed(
    kind: str,
    source: Source,
    make: _Codemod | Sequence[Change],
    *given: Any,
    stopgap: bool = False,
    moves: tuple[str, str] | None = None,
    cause: str = "",
    says: str = "",
) -> Iterator[Proposal]:
    """The edit of a file that a codemod makes; none where it is refused.

    Args:
        kind: the fix that it amounts to.
        source: the file.
        make: the codemod, which is given the file and ``given``; or its changes.
        given: what to change, and how.
        stopgap: see `Proposal`.
        moves: see there.
        cause: see there.
        says: see there.
    """
    with suppress(Refused):
        made = make(source, *given) if callable(make) else make
        changes = [made] if isinstance(made, Change) else made
        if changes:
            yield Proposal(kind, file_edit(source, changes), stopgap, moves, cause, says)


class Running(NamedTuple):
    """A function of the program that was running: its variables, its line, then those of its callers, and
    the expression that it was at."""

    frame: FrameType
    stack: Stack
    spot: Spot

    @property
    def line(self) -> Line:
        """The line that it was at."""
        return self.stack[0]

    @property
    def source(self) -> Source:
        """Its file."""
        return self.spot.source

    @property
    def scope(self) -> Function | ast.Module:
        """The function itself, or the file."""
        return scope_of(self.source.tree, self.spot.node)

    @property
    def statement(self) -> ast.stmt:
        """The statement that it stands at."""
        return statement_of(self.source, self.spot.node)

    def value(self, node: ast.AST) -> Any:
        """What an expression holds, where that is seen without running anything; else None."""
        return value(node, self.frame)

    def assigned(self, node: ast.AST) -> ast.expr | None:
        """What a variable was last assigned above the line."""
        return assigned(node, self.scope, self.spot.line)


class LiveFailure:
    """What is known of a failure whose variables are still there.

    Args:
        error: the live exception. Nothing in its frames is run.
    """

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.recorder = tracing.witness(error)

    def says(self, *texts: str) -> bool:
        """Whether its message has one of some texts."""
        return any(one in str(self.error) for one in texts)

    @cached_property
    def met(self) -> Met | None:
        """What met, as far as a recorder saw it; None where none did."""
        seen = self.recorder
        return guarded("meeting", partial(met, seen, self.error), None) if seen else None

    @property
    def operands(self) -> Sequence[Operand]:
        """What met; nothing where that was not seen."""
        return self.met.operands if self.met is not None else ()

    @property
    def pairs(self) -> Iterator[tuple[Operand, Operand]]:
        """Each operand with each other one."""
        return permutations(self.operands, 2)

    @property
    def spot(self) -> Spot:
        """Where the operands met; to be asked where there are some."""
        assert self.met is not None
        return self.met.meeting.spot

    @property
    def asked(self) -> str:
        """Where the program asked for it, or a GPU where it did not say."""
        return (self.met.asked if self.met is not None else None) or "cuda"

    @cached_property
    def texts(self) -> Texts:
        """The program's files."""
        return self.met.lives.texts if self.met is not None else Texts()

    @cached_property
    def running(self) -> Sequence[Running]:
        """The program's functions that were running, as far as its text shows them, innermost first."""
        frames = [one for one in reversed(frames_of(self.error)) if is_own(one.line.code)]
        lines = tuple(line for _, line in frames)
        return [
            Running(frame, lines[at:], spot)
            for at, (frame, line) in enumerate(frames)
            if (spot := self.texts.spot(line)) is not None
        ]

    @cached_property
    def sources(self) -> Sequence[Source]:
        """Their files, innermost first."""
        return list({one.spot.file: one.source for one in self.running}.values())

    @cached_property
    def lives(self) -> Lives:
        """What a recorder knows of the program; to be asked where one was running."""
        if self.met is not None:
            return self.met.lives
        assert self.recorder is not None
        alive = [(one.frame, one.line) for one in reversed(self.running)]
        return Lives(self.recorder, self.texts, alive, self.running[0].spot, alive)

    def devices(
        self, spot: Spot, wanted: Device | None, stack: Sequence[Line] = ()
    ) -> Iterator[str]:
        """Expressions of a device that may stand at a place, to which the program came by a stack."""
        scopes = self.lives.scopes
        return in_scope(scopes.frame(stack) or scopes.around(spot), spot, wanted)

    def suspect(
        self,
        stray: Operand,
        spot: Spot,
        stack: Sequence[Line],
        wanted: Device | None,
        owner: ModuleLife | None = None,
    ) -> Suspect:
        """An operand as a suspect, with a place to edit and the module, if any, that was moved there."""
        events = reversed(owner.events) if owner is not None else ()
        move = next((one.stack for one in events if one.what == EventKind.MOVED), ())
        return Suspect(
            "",
            ast.unparse(stray.side.node),
            spot,
            written(stray.device),
            wanted,
            (*self.devices(spot, wanted, stack), *self._of_replica(spot)),
            stray.side.tensor.steps,
            self.spot,
            self.texts.spot(move[0]) if move else None,
        )

    def defined(
        self,
        kind: str,
        stray: Operand,
        spot: Spot,
        stack: Sequence[Line],
        wanted: Device | None,
        owner: ModuleLife | None = None,
    ) -> Iterator[Proposal]:
        """The edit that a fix makes of a place; none where it does not show enough."""
        suspect = self.suspect(stray, spot, stack, wanted, owner)
        with suppress(Refused):
            yield Proposal(kind, define(kind, suspect, torch=load().knowledge.torch))

    def _of_replica(self, spot: Spot) -> Iterator[str]:
        """In the methods of a module of which `DataParallel` makes copies, each of these tells its GPU by a
        weight of its own: ``parameters()`` of a copy is empty."""
        replica, kind = self.lives.replica, class_around(spot.source, spot.node)
        if replica is None or kind is None:
            return
        for module in replica.modules():
            if any(one.__name__ == kind.name for one in type(module).__mro__):
                for name, layer in (("", module), *module.named_children()):
                    for weight in getattr(layer, "_former_parameters", ()):
                        yield ".".join(one for one in ("self", name, weight, "device") if one)
                return


_last: list[LiveFailure] = []


def live_failure(error: BaseException) -> LiveFailure:
    """A failure, looked at once for all who ask.

    Args:
        error: a live exception. It is held until another one is looked at, as a run has one.
    """
    if not _last or _last[0].error is not error:
        _last[:] = [LiveFailure(error)]
    return _last[0]


def place_of(operand: Operand) -> Device | None:
    """Where an operand is."""
    return written(operand.device)
