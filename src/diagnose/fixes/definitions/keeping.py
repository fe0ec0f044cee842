"""What a function brought to a device that it names, and that knows no other, goes on where an object that
does know one keeps it."""

from __future__ import annotations

import ast

from diagnose.fixes.definitions.expressions import moved
from diagnose.fixes.definitions.places import functions_around
from diagnose.fixes.definitions.reach import within_reach
from diagnose.fixes.rewriting import Change
from diagnose.kinds import EventKind
from diagnose.placement.model import Suspect


def brought_where_kept(suspect: Suspect) -> Change | None:
    """``self.x = rows.load()`` becomes ``self.x = rows.load().to(self.device)``; None where no object of a
    file keeps what the function gives, or its method knows no device."""
    source, made = suspect.spot.source, functions_around(suspect.spot.source, suspect.spot.node)
    for step in reversed(suspect.steps):
        if step.what == EventKind.MOVED:
            return None
        match (
            step.spot.node if step.what == EventKind.STORED and step.spot.source is source else None
        ):
            case ast.Assign(targets=[ast.Attribute()], value=ast.Call() as given):
                pass
            case _:
                continue
        around = functions_around(source, given)
        if around[:1] == made[:1] or not around or around[0].name == "__init__":
            continue  # which may not have its device yet
        device = within_reach(suspect._replace(spot=step.spot._replace(node=given), meets=None))
        return moved(source, given, device) if device is not None else None
    return None
