"""What a patch's run tells of where things stand in the meantime, and not only at the end."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from diagnose.model import Lang
from diagnose.placement.semantics import nodes
from diagnose.repair.comparison import changed
from diagnose.repair.model import Guard, Ran
from diagnose.repair.syntax import tree_of
from diagnose.repair.words import say


def kept(wanted: Ran, ran: Ran, lang: Lang) -> Iterator[Guard]:
    """A model that the program puts away and brings back itself is on a GPU only when the program has it
    there: not at the end, and not while another model computes."""
    for pair in sorted(ran.beside - wanted.beside):
        called, _, other = pair.partition("|")
        if other in wanted.commuting:
            told = say(lang, "stays", name=other, other=called)
            yield Guard("put-away", False, told)
            return
    for name in sorted(wanted.commuting):
        for one, device in ran.homes.items():
            away = one in wanted.parked and device.startswith("cuda")
            if one.startswith(f"{name}.") and away:
                yield Guard("put-away", False, say(lang, "put-away", name=one))
                return


def placed(wanted: Ran, ran: Ran, writing: set[str], lang: Lang) -> Iterator[Guard]:
    """No edit writes down a GPU for a model that a library (a trainer, a launcher) brings to one itself.
    ``writing`` are the edited lines that name a GPU."""
    for sent in sorted(ran.sent):
        place, _, name = sent.partition("|")
        if place in writing and ran.placed.get(name, 0) < wanted.placed.get(name, 0):
            told = say(lang, "placed", line=_line(place), name=name)
            yield Guard("placed", False, told)
            return


def measured(ran: Ran, texts: Mapping[str, tuple[str, str]], lang: Lang) -> Iterator[Guard]:
    """No edit makes on a GPU, in place of the meta device, models in which nothing computes: their sizes
    were asked for, and no memory. ``texts`` are those of the edited files by their paths, before and
    after."""
    for file, both in texts.items():
        for line in sorted(_were_meta(*both)):
            if f"{file}:{line}" in ran.unused:
                yield Guard("measured", False, say(lang, "measured", line=line))
                return


def _were_meta(before: str, after: str) -> set[int]:
    """The lines that make something where an edit took the meta device away."""
    old, found = before.splitlines(), set()
    for gone, made in changed(before, after):
        if any("meta" in old[number] for number in gone):
            found |= {number + 1 for number in made}
    for node in nodes(tree_of(after), ast.With):
        if node.lineno in found:
            found |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def carried(ran: Ran, edited: set[str], lang: Lang) -> Iterator[Guard]:
    """Nothing is carried away from the GPU of the layer that computes with it, nor what trains to where
    something is that does not: what stayed behind goes to what is new. Nor are a layer's weights carried:
    what they are used with goes to them."""
    for places, told in (
        (ran.leaving, "leaving"),
        (ran.weights, "weights"),
        (ran.after, "after"),
    ):
        if lines := sorted(edited & places):
            yield Guard("carried", False, say(lang, told, line=_line(lines[0])))
            return


def lasting(ran: Ran, edited: set[str], lang: Lang) -> Iterator[Guard]:
    """What an edit brings to a GPU once is not put away where the program brings back all that it puts
    away: the next call would find it on the cpu."""
    pairs = [one.partition("|")[::2] for one in sorted(ran.lapsing)]
    for brought, away in pairs:
        others = {other for other, where in pairs if where == away} - edited
        if brought in edited and away not in edited and others:
            told = say(lang, "lapsing", line=_line(brought), away=_line(away))
            yield Guard("put-away", False, told)
            return


def spread(ran: Ran, lang: Lang) -> Iterator[Guard]:
    """What the program spreads over several GPUs is not left on one, where a library has gathered it."""
    for name in sorted(ran.gathered):
        yield Guard("gathered", False, say(lang, "gathered", name=name))
        return


def parted(ran: Ran, edited: set[str], lang: Lang) -> Iterator[Guard]:
    """No part of a batch is moved far from where the program moves the others."""
    for line in sorted(edited & set(ran.parted)):
        told = say(lang, "parted", line=_line(line), other=_line(min(ran.parted[line])))
        yield Guard("parted", False, told)
        return


def _line(place: str) -> str:
    return place.rpartition(":")[2]
