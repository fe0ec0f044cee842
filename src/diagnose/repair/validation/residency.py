"""Where models and their parts are while a patched program runs, and not only at its end: what is kept
on the cpu to save memory stays there, no weights of a layer are carried."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnose.placement.semantics import dotted, names, nodes
from diagnose.repair.model import Guard, objection
from diagnose.repair.patch import Patch, callee, goes_to_cpu, move_of, moves
from diagnose.repair.syntax import blocks
from diagnose.repair.validation.case import Case, line_of

#: Functions before which a model is put away for their sake, and not to save memory.
_SAVES = re.compile(r"save|export|dump|state_dict|script|trace")


def put_away(case: Case) -> Iterator[Guard]:
    """Where the program puts modules away on the cpu, or chooses of each part of a model whether that goes
    to a GPU, what it never had on a GPU stays off it, and what it has just put away is not brought back at
    once; nor are weights brought to a GPU for good that go there one by one where they are used."""
    wanted, patches = case.wanted, case.patches.values()
    now = {name for name, device in case.ran.homes.items() if device.startswith("cuda")}
    idle, parked = now & wanted.idle, now & wanted.parked
    if idle and not any(_puts_away(one.old) or _brings_some(one.old) for one in patches):
        idle = set()
    if parked and not any(map(_brings_back, patches)):
        parked = set()
    for name in sorted(idle | parked | (now & wanted.streamed)):
        yield objection("put-away", "put-away", name=name)
        return


def _puts_away(tree: ast.Module) -> bool:
    """Whether a statement moves a module to the cpu, to do without it. A tensor's move would be lost."""
    return any(
        (call := move_of(one.value)) is not None
        and goes_to_cpu(call)
        and not _SAVES.search("\n".join(map(ast.unparse, block[at + 1 :])))
        for block in blocks(tree)
        for at, one in enumerate(block)
        if isinstance(one, ast.Expr)
    )


def _brings_some(tree: ast.Module) -> bool:
    """Whether a loop brings parts of something to a device under a condition other than their class: a
    budget, a list of names."""
    for loop in nodes(tree, ast.For):
        parts = set(names(loop.target))
        for node in nodes(loop, ast.If):
            if "isinstance" not in ast.unparse(node.test):
                brought = (one for part in node.body for one in moves(part))
                if any(dotted(callee(one)) in parts for one in brought if not goes_to_cpu(one)):
                    return True
    return False


def _brings_back(patch: Patch) -> bool:
    """Whether an edit moves something in the block in which a statement before it moves something away."""
    for block in blocks(patch.new):
        away = False
        for one in block:
            match one:
                case ast.Expr(value=ast.Call(func=ast.Attribute(attr="to" | "cuda"))):
                    if away and one.lineno in patch.edited:
                        return True
            away = away or any(map(goes_to_cpu, moves(one)))
    return False


def kept(case: Case) -> Iterator[Guard]:
    """A model that the program puts away and brings back itself is on a GPU only when the program has it
    there: not at the end, and not while another model computes."""
    wanted, ran = case.wanted, case.ran
    for pair in sorted(ran.beside - wanted.beside):
        called, _, other = pair.partition("|")
        if other in wanted.commuting:
            yield objection("put-away", "stays", name=other, other=called)
            return
    for name in sorted(wanted.commuting):
        for one, device in ran.homes.items():
            away = one in wanted.parked and device.startswith("cuda")
            if one.startswith(f"{name}.") and away:
                yield objection("put-away", "put-away", name=one)
                return


def carried(case: Case) -> Iterator[Guard]:
    """Nothing is carried away from the GPU of the layer that computes with it, nor what trains to where
    something is that does not: what stayed behind goes to what is new. Nor are a layer's weights carried:
    what they are used with goes to them."""
    for places, told in (
        (case.ran.leaving, "leaving"),
        (case.ran.weights, "weights"),
        (case.ran.after, "after"),
    ):
        if lines := sorted(case.edited & places):
            yield objection("carried", told, line=line_of(lines[0]))
            return
