"""Methods that a module keeps are kept as its class has them, and told which object they are called of."""

from __future__ import annotations

import ast
import copy

from diagnose.fixes.definitions.expressions import replaced
from diagnose.fixes.definitions.places import span
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change, Splice
from diagnose.placement.methods_kept import kept_methods
from diagnose.placement.model import Source, Suspect
from diagnose.placement.replicas import CAUSE


def unbound(suspect: Suspect) -> list[Change]:
    """``{"probe": self._probe}`` becomes ``{"probe": type(self)._probe}``, and its calls
    ``self.modes[mode](self, x)``: a replica is not the module that the methods were bound to.

    Raises:
        Refused: the suspect is no such method.
    """
    source, node = suspect.spot.source, suspect.spot.node
    found = kept_methods(source, suspect.move.line) if suspect.move is not None else None
    if suspect.cause != CAUSE or found is None or node not in found.methods:
        raise Refused("it edits no definition")
    changes = [replaced(source, one.value, "type(self)") for one in found.methods]
    return [*changes, *(_told(source, call) for call in found.calls)]


def _told(source: Source, call: ast.Call) -> Change:
    """A call that gets its object as the first argument."""
    first = span(source, call.func)[1]
    at = source.text.index("(", first) + 1
    rest = ", " if call.args or call.keywords else ""
    becomes = copy.copy(call)
    becomes.args = [ast.Name("self", ast.Load()), *call.args]
    return Change((Splice(at, at, f"self{rest}"),), call, (becomes,))
