"""Methods that a module keeps are kept as its class has them, and told which object they are called of."""

from __future__ import annotations

import ast
import copy

from diagnose.fixes.definitions.expressions import replaced
from diagnose.fixes.definitions.places import ancestors, span, text_of
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change, Splice
from diagnose.placement.methods_kept import kept_methods
from diagnose.placement.model import Source, Suspect
from diagnose.placement.replicas import CAUSE


def unbound(suspect: Suspect) -> list[Change]:
    """``{"probe": self._probe}`` becomes ``{"probe": type(self)._probe}``, and its calls
    ``self.modes[mode](self, x)``: a replica is not the module that the methods were bound to. What is kept
    beside them takes the object, too.

    Raises:
        Refused: the suspect is no such method.
    """
    source, node = suspect.spot.source, suspect.spot.node
    found = kept_methods(source, suspect.move.line) if suspect.move is not None else None
    if suspect.cause != CAUSE or found is None or node not in found.bound():
        raise Refused("it edits no definition")
    named = any(call.keywords for call in found.calls)
    return [
        *(replaced(source, one.value, "type(self)") for one in found.methods),
        *(replaced(source, one.args[0], "type(self)") for one in found.asked),
        *(_taking(source, one) for one in found.lambdas),
        *(_wrapped(source, one, named=named) for one in found.others),
        *(_told(source, call) for call in found.calls),
    ]


def _taking(source: Source, node: ast.Lambda) -> Change:
    """A lambda that takes the object as its first argument."""
    at = span(source, node)[0] + len("lambda")
    given = node.args
    rest = ", " if source.text[at:].lstrip()[:1] != ":" else ""
    becomes = copy.copy(node)
    becomes.args = copy.copy(given)
    first = [ast.arg("self")]
    if given.posonlyargs:
        becomes.args.posonlyargs = [*first, *given.posonlyargs]
    else:
        becomes.args.args = [*first, *given.args]
    return Change((Splice(at, at, f" self{rest.rstrip()}"),), node, (becomes,))


def _wrapped(source: Source, node: ast.expr, *, named: bool) -> Change:
    """A function that takes no object, as one that does."""
    taken = "*given, **named" if named else "*given"
    code = f"lambda self, {taken}: {text_of(source, node)}({taken})"
    alone = isinstance(ancestors(source, node)[-2], ast.Dict)
    return replaced(source, node, code if alone else f"({code})")


def _told(source: Source, call: ast.Call) -> Change:
    """A call that gets its object as the first argument."""
    first = span(source, call.func)[1]
    at = source.text.index("(", first) + 1
    rest = ", " if call.args or call.keywords else ""
    becomes = copy.copy(call)
    becomes.args = [ast.Name("self", ast.Load()), *call.args]
    return Change((Splice(at, at, f"self{rest}"),), call, (becomes,))
