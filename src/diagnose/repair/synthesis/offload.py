"""Edits of programs that save memory: what puts a part away before its last use does so after that, what
something brings only where it is called is called, and what is done elsewhere around the same call, a
``with`` block that brings a model to a GPU and puts it away afterwards, is done here."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Any

import torch

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.positions import block_of, statement_of, statements_around, text_of
from diagnose.fixes.codemods.statements import inside, moved_statement
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.non_dispatch import Operand
from diagnose.kinds import EventKind
from diagnose.placement import Source, Spot
from diagnose.placement.semantics import called, calls, holds, names, nodes
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, Running, proposed
from diagnose.tracing.lives import Event

#: Of a program that has functions of its own to bring a part to a GPU and put it away.
CAUSE = "low-memory-mode"
#: Modules above each other that are looked at.
_OWNERS = 4


def delaying(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits: in each running function, the statement that has put a layer's module on the cpu goes
    below the last one of its block that names the same."""
    for stray in failure.operands:
        for event in _put_away(stray) if stray.device == "cpu" else ():
            for _, now in failure.lives.alive:
                for then in event.stack:
                    if then.code is now.code and then.number < now.number:
                        away, fails = failure.texts.spot(then), failure.texts.spot(now)
                        if away is not None and fails is not None:
                            later = (_delayed, away, fails)
                            yield from proposed(
                                "other", away.source, *later, cause=CAUSE, says="put-away-later"
                            )


def _edit(says: str, source: Source, *change: Any) -> Iterator[Proposal]:
    cause = "offloaded-to-cpu" if says == "call-it" else CAUSE
    yield from proposed("other", source, *change, cause=cause, says=says)


def _put_away(stray: Operand) -> Iterator[Event]:
    """When the module that an operand belongs to was moved to the cpu, the latest first."""
    module = stray.life.module if stray.life is not None else None
    for _ in range(_OWNERS):
        if module is not None:
            yield from (
                e for e in reversed(module.events) if (e.what, e.device) == (EventKind.MOVED, "cpu")
            )
            module = module.owner


def _delayed(source: Source, away: Spot, fails: Spot) -> list[Change]:
    statement = statement_of(source, away.node)
    last = _last_use(source, statement, statement_of(source, fails.node))
    return moved_statement(source, statement, last, after=True)


def _last_use(source: Source, away: ast.stmt, fails: ast.stmt) -> ast.stmt:
    """The last statement of a block that speaks of what one of its statements puts away.

    Raises:
        Refused: what fails stands in another block, or above; or the function ends there.
    """
    block = block_of(source, away)
    after = block[block.index(away) + 1 :]
    if not any(one in after for one in statements_around(source, fails)):
        raise Refused("what fails stands in another block")
    owners = [one.func.value for one in calls(away) if isinstance(one.func, ast.Attribute)]
    given = [*owners, *(one for call in calls(away) for one in call.args)]
    named = {ast.unparse(one) for one in given if isinstance(one, ast.Name | ast.Attribute)}
    named -= {"self"}
    uses = [one for one in after if named & set(map(ast.unparse, nodes(one, ast.expr)))]
    if not uses or any(nodes(uses[-1], ast.Return)):
        raise Refused("nothing can follow the last use")
    return uses[-1]


def bracketing(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits that do as elsewhere, for each of the program's running calls, innermost first."""
    for running in failure.running:
        node, statement = running.spot.node, running.statement
        if not isinstance(node, ast.Call) or not isinstance(
            statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr
        ):
            continue
        for twin in nodes(running.source.tree, ast.With):
            known = not holds(twin, node) and _known(twin, running)
            if known and _calls(twin, ast.unparse(node.func)):
                contexts = ", ".join(ast.unparse(one.context_expr) for one in twin.items)
                yield from proposed(
                    "other",
                    running.source,
                    inside,
                    statement,
                    contexts,
                    cause=CAUSE,
                    says="as-elsewhere",
                )


def _calls(block: ast.With, func: str) -> bool:
    """Whether a block, entered by calls of the program's own alone, calls what is told by an expression."""
    for one in block.items:
        entered = one.context_expr
        if not isinstance(entered, ast.Call) or names(entered.func)[:1] == ["torch"]:
            return False
    return any(ast.unparse(one.func) == func for part in block.body for one in calls(part))


def _known(block: ast.With, running: Running) -> bool:
    """Whether all names that a block is entered with mean something in a function."""
    return all(
        name in running.frame.f_locals or name in running.frame.f_globals or hasattr(builtins, name)
        for one in block.items
        for name in names(one.context_expr)
    )


def hooked(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits: ``table.weight[ids]`` becomes ``table(ids)``, which runs what accelerate's offload, or a
    hook of the program's, does before a call; in the files that run."""
    seen = set[tuple[str, ast.expr]]()
    for running in failure.running if failure.operands else ():
        # What has ended may have read them, and called its model as those do who run still.
        for node in nodes(running.source.tree, ast.expr):
            module, given = _read(node, running)
            if module and given and (running.source.path, given) not in seen:
                seen.add((running.source.path, given))
                yield from proposed(
                    "other",
                    running.source,
                    _called,
                    node,
                    module,
                    given,
                    cause="offloaded-to-cpu",
                    says="call-it",
                )


def _called(source: Source, node: ast.expr, module: ast.expr, given: ast.expr) -> Change:
    return replaced(source, node, f"{text_of(source, module)}({text_of(source, given)})")


def _read(node: ast.AST, running: Running) -> tuple[ast.expr | None, ast.expr | None]:
    """The module whose weights an expression computes with, as its own forward does, and what it would be
    given; nothing where no hook waits for its call."""
    kind: type = torch.nn.Embedding
    match node:
        case ast.Subscript(value=ast.Attribute(value=owner, attr="weight"), slice=given) if (
            not isinstance(given, ast.Slice | ast.Tuple | ast.Constant)
        ):
            pass
        case ast.Call(args=[given, ast.Attribute(value=owner, attr="weight")], keywords=[]) if (
            called(node) == "embedding"
        ):
            pass
        case ast.Call(
            args=[
                given,
                ast.Attribute(value=owner, attr="weight"),
                ast.Attribute(value=other, attr="bias"),
            ],
            keywords=[],
        ) if called(node) == "linear" and ast.unparse(owner) == ast.unparse(other):
            kind = torch.nn.Linear
        case _:
            return None, None
    module = running.value(owner)
    return (owner, given) if type(module) is kind and waits(module) else (None, None)


def waits(module: object) -> bool:
    """Whether a hook waits for the call of a module, to bring it or what it is given."""
    return hasattr(module, "_hf_hook") or bool(getattr(module, "_forward_pre_hooks", None))
