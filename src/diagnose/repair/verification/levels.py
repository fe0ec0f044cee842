"""How much is known of a patch, by its guards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from diagnose.repair.model import LEVELS, Guard, Level, Proof, said

#: The guards that know nothing better themselves.
_SETTLED = frozenset({"stopgap", "other-gpu"})


def settled(proof: Proof) -> Proof:
    """A proof after all else was tried, which says so: that nothing better was found makes a move where a
    value is used, or a GPU that an edit writes down, no better."""
    found = tuple(
        guard._replace(sentence=said("settled", told=guard.sentence))
        if guard.id in _SETTLED and guard.holds is False
        else guard
        for guard in proof.guards
    )
    return proof._replace(guards=found)


#: An object moves what it keeps to where an argument is, where it uses it: at each call anew.
_KEPT = re.compile(r"\s+(self\.[\w.]+ = )?self\.[\w.]+\.to\((?!self\.)[\w.\[\]]+\.device\)\s*")


def unopposed(proof: Proof, rows: Iterable[str]) -> Proof:
    """A proof after all else was tried, to which only `agreed` objects: nothing better was found where the
    report would edit, and no other guard has anything against the edits. So the run is the witness. An
    edit that moves what an object keeps to where an argument is remains to be decided.

    Args:
        proof: what is known of the edits.
        rows: the lines that the edits made.
    """
    against = {guard.id for guard in proof.guards if guard.holds is False}
    if against != {"agreed"} or any(map(_KEPT.fullmatch, rows)):
        return proof
    guards = tuple(
        Guard(one.id, None, said("unopposed")) if one.id in against else one for one in proof.guards
    )
    return proof._replace(level=level_of(guards), guards=guards)


#: The guards of what is computed.
_MEANT = frozenset({"output", "trained"})


#: The guards of what a person has to decide: nothing speaks against the edit itself.
DECIDED = frozenset({"agreed", "taken"})


def passes(proof: Proof, least: Level = "passes") -> bool:
    """Whether nothing speaks against a patch but what a person has to decide; or as much is known of it."""
    return LEVELS.index(proof.level) >= LEVELS.index(least)


def level_of(found: Sequence[Guard]) -> Level:
    """Of the guards of what is computed one at least has to hold, and none to object."""
    meant = [guard.holds for guard in found if guard.id in _MEANT]
    if False in meant or True not in meant:
        return "runs"
    against = {guard.id for guard in found if guard.holds is False}
    if not against:
        return "proven"
    return "passes" if against <= DECIDED else "same-numbers"
