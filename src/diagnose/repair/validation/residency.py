"""What a patch's run shows of where things stand in the meantime, and not only at the end."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.placement.semantics import nodes
from diagnose.repair.model import Guard, objection
from diagnose.repair.patch import Patch
from diagnose.repair.validation.case import Case, line_of
from diagnose.repair.validation.patch_edits import names_gpu
from diagnose.repair.workspace import FILES


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


def placed(case: Case) -> Iterator[Guard]:
    """No edit writes down a GPU for a model that a library (a trainer, a launcher) brings to one itself."""
    wanted, ran, writing = case.wanted, case.ran, case.lines(lambda _, row: names_gpu(row))
    for sent in sorted(ran.sent):
        place, _, name = sent.partition("|")
        if place in writing and ran.placed.get(name, 0) < wanted.placed.get(name, 0):
            yield objection("placed", "placed", line=line_of(place), name=name)
            return


def unnamed(case: Case) -> Iterator[Guard]:
    """No edit names a GPU in a program that names none, where a library brings models to one."""
    writing = case.lines(lambda _, row: names_gpu(row))
    if writing and case.wanted.placed:
        sources = (text for _, text in case.workspace.sources(FILES))
        if not any(names_gpu(one) or "DataParallel" in one for one in sources):
            yield objection("unnamed", "unnamed", line=line_of(min(writing)))


def measured(case: Case) -> Iterator[Guard]:
    """No edit makes on a GPU, in place of the meta device, models in which nothing computes: their sizes
    were asked for, and no memory."""
    for file, patch in case.patches.items():
        for line in sorted(_were_meta(patch)):
            if case.place(file, line) in case.ran.unused:
                yield objection("measured", "measured", line=line)
                return


def _were_meta(patch: Patch) -> set[int]:
    """The lines that make something where an edit took the meta device away."""
    found = set[int]()
    for hunk in patch.hunks:
        if "meta" in hunk.was:
            found |= {number + 1 for number in hunk.made}
    for node in nodes(patch.new, ast.With):
        if node.lineno in found:
            found |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


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


def lasting(case: Case) -> Iterator[Guard]:
    """What an edit brings to a GPU once is not put away where the program brings back all that it puts
    away: the next call would find it on the cpu."""
    pairs = [one.partition("|")[::2] for one in sorted(case.ran.lapsing)]
    for brought, away in pairs:
        others = {other for other, where in pairs if where == away} - case.edited
        if brought in case.edited and away not in case.edited and others:
            yield objection("put-away", "lapsing", line=line_of(brought), away=line_of(away))
            return


def spread(case: Case) -> Iterator[Guard]:
    """What the program spreads over several GPUs is not left on one, where a library has gathered it."""
    for name in sorted(case.ran.gathered):
        yield objection("gathered", "gathered", name=name)
        return


def parted(case: Case) -> Iterator[Guard]:
    """No part of a batch is moved far from where the program moves the others."""
    for line in sorted(case.edited & set(case.ran.parted)):
        yield objection(
            "parted", "parted", line=line_of(line), other=line_of(min(case.ran.parted[line]))
        )
        return
