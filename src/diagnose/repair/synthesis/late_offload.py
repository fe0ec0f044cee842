"""Edits of what puts a part of the program away before its last use: it is put away after that."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from diagnose.fixes.codemods.positions import block_of, statement_of, statements_around
from diagnose.fixes.codemods.statements import moved_statement
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.non_dispatch import Operand
from diagnose.hooks.replay import Met
from diagnose.kinds import EventKind
from diagnose.placement import Source
from diagnose.placement.semantics import calls, nodes
from diagnose.repair.synthesis.constraint import meeting
from diagnose.repair.synthesis.transfers import Move
from diagnose.tracing.lives import Event

_CAUSE = "low-memory-mode"
#: Modules above each other that are looked at.
_OWNERS = 4


def delaying(error: BaseException) -> Iterator[Move]:
    """The edits: in each running function, the statement that has put a layer's module on the cpu goes
    below the last one of its block that names the same.

    Args:
        error: a live failure that a recorder saw.
    """
    found = meeting(error)
    for stray in found.operands if found is not None else ():
        if found is not None and stray.device == "cpu":
            for event in _put_away(stray):
                yield from _delayed(found, event)


def _put_away(stray: Operand) -> Iterator[Event]:
    """When the module that an operand belongs to was moved to the cpu, the latest first."""
    module = stray.life.module if stray.life is not None else None
    for _ in range(_OWNERS):
        if module is not None:
            yield from (
                e for e in reversed(module.events) if (e.what, e.device) == (EventKind.MOVED, "cpu")
            )
            module = module.owner


def _delayed(found: Met, event: Event) -> Iterator[Move]:
    texts = found.lives.texts
    for _, now in found.lives.alive:
        for then in event.stack:
            if then.code is not now.code or then.number >= now.number:
                continue
            away, fails = texts.spot(then), texts.spot(now)
            if away is not None and fails is not None:
                with suppress(Refused):
                    source = away.source
                    statement = statement_of(source, away.node)
                    last = _last_use(source, statement, statement_of(source, fails.node))
                    changes = moved_statement(source, statement, last, after=True)
                    yield Move(
                        "other", file_edit(source, changes), cause=_CAUSE, says="put-away-later"
                    )


def _last_use(source: Source, away: ast.stmt, fails: ast.stmt) -> ast.stmt:
    """The last statement of a block that speaks of what one of its statements puts away.

    Raises:
        Refused: what fails stands in another block, or above; or the function ends there.
    """
    block = block_of(source, away)
    after = block[block.index(away) + 1 :]
    if not any(one in after for one in statements_around(source, fails)):
        raise Refused("what fails stands in another block")
    named = {
        ast.unparse(one)
        for call in calls(away)
        for one in (
            *call.args,
            *([call.func.value] if isinstance(call.func, ast.Attribute) else ()),
        )
        if isinstance(one, ast.Name | ast.Attribute)
    } - {"self"}
    uses = [one for one in after if named & set(map(ast.unparse, nodes(one, ast.expr)))]
    if not uses or any(nodes(uses[-1], ast.Return)):
        raise Refused("nothing can follow the last use")
    return uses[-1]
