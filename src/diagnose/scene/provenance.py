"""Where the misplaced operand most likely comes from, by its name, its line and the calls above it.

What a line does not define was defined elsewhere: in the function that the line stands in, in its object,
or by a caller, who passed it. Which of these, `diagnose.naming` says for a name as packages use it; where
it was passed, the line of the caller, which the traceback shows, says more than the name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from diagnose.model import ANY, Knowledge, TorchNames
from diagnose.naming import origins
from diagnose.naming.features import Use, features, uses
from diagnose.naming.origins import CALLED, VALUES
from diagnose.placement.semantics import dotted
from diagnose.scene import calls
from diagnose.scene.meeting import Operand, Place

Shares = Mapping[str, float]

#: What an attribute of ``self`` may be.
_KEPT = ("buffer", "attribute", "state", "parameter", "loaded", "scalar", "host")
_LOCAL = tuple(name for name in VALUES if name != "given")
#: How likely a parameter's value was passed under another name, where the caller's line has several
#: arguments and where it has one.
_RENAMED, _RENAMED_ONE = 0.35, 0.5
#: How likely a local was made anew under the name that it was passed by.
_MADE_ANEW = 0.15
#: How many callers are followed.
_CALLERS = 12


class Argument(NamedTuple):
    """What a call passes: the keyword, ``**`` or empty, and the expression."""

    keyword: str
    node: ast.expr

    @property
    def spread(self) -> bool:
        """True for ``*args`` and ``**kwargs``, which may be anything."""
        return self.keyword == "**" or isinstance(self.node, ast.Starred)

    def is_called(self, text: str) -> bool:
        """Whether it goes by a name."""
        return bool(text) and text in (self.keyword, name(self.node))


def of_operands(
    strays: Sequence[Operand], site: Place, above: Sequence[Place], knowledge: Knowledge
) -> dict[str, float] | None:
    """The shares of the origins of the misplaced operand (`diagnose.naming.origins`); None where the line
    shows none.

    Args:
        strays: the operands that may be it.
        site: where they met.
        above: the places whose calls led there, innermost first.
        knowledge: what torch calls its things, and how often a value of an origin is misplaced.
    """
    torch, often = knowledge.torch, knowledge.strays[ANY]
    mixed: dict[str, float] = {}
    for one in strays:
        if one.layer or calls.is_number(one.node, torch):
            continue
        for origin, share in _followed(one.node, (site, *above[:_CALLERS]), torch).items():
            mixed[origin] = mixed.get(origin, 0.0) + share * often[origin]
    total = sum(mixed.values())
    return {origin: share / total for origin, share in mixed.items()} if total else None


def of_operand(
    one: Operand, site: Place, above: Sequence[Place], torch: TorchNames
) -> dict[str, float]:
    """The shares of the origins of one operand; a layer that is called brings its parameters."""
    if one.layer:
        return {"parameter": 1.0}
    return _followed(one.node, (site, *above[:_CALLERS]), torch)


def _followed(node: ast.expr, places: Sequence[Place], torch: TorchNames) -> dict[str, float]:
    """The origins of an expression in the first place; what was passed is followed to the next ones."""
    if calls.makes_tensor(node, torch):
        return {"made": 1.0}
    place, *above = places
    shares = here(node, place)
    given = shares.pop("given", 0.0)
    passed = arguments(above[0], place, torch) if given and above else None
    if passed is None:
        return {**shares, "given": given}
    same = next((one for one in passed if one.is_called(name(node))), None)
    if same is not None:
        further, given = _followed(same.node, above, torch), 1.0 - _MADE_ANEW * (1.0 - given)
    else:
        further = _any(passed, above[0])
        if not any(one.spread for one in passed):
            given *= 0.0 if not passed else _RENAMED_ONE if len(passed) == 1 else _RENAMED
    own = sum(shares.values()) or 1.0
    rest = 1.0 - given if same is not None else own
    total = given + rest
    found = {origin: share / own * rest / total for origin, share in shares.items()}
    for origin, share in further.items():
        found[origin] = found.get(origin, 0.0) + share * given / total
    return found


def here(node: ast.expr, place: Place) -> dict[str, float]:
    """The origins of an expression by its line alone."""
    function = _function(place)
    among = (
        _KEPT if is_own(node) else _LOCAL if function.startswith("<") or not function else VALUES
    )
    used = uses(place.line.tree).get(id(node), Use()) if place.line is not None else Use()
    return origins.table().shares(features(node, function, used), among)


def _any(passed: Sequence[Argument], caller: Place) -> dict[str, float]:
    """The origins of what a call passes, each argument alike."""
    mixed: dict[str, float] = {}
    for one in passed:
        for origin, share in here(one.node, caller).items():
            mixed[origin] = mixed.get(origin, 0.0) + share / len(passed)
    return mixed


def _function(place: Place) -> str:
    return (place.frame.function or "").rpartition(".")[2]


def is_own(node: ast.expr) -> bool:
    """True for an attribute of ``self``, whatever is done with it."""
    while True:
        match node:
            case ast.Attribute(value=ast.Name(id="self")):
                return True
            case (
                ast.Attribute(value=value)
                | ast.Subscript(value=value)
                | ast.Call(func=ast.Attribute(value=value))
                | ast.UnaryOp(operand=value)
            ):
                node = value
            case _:
                return False


def name(node: ast.expr) -> str:
    """The name of an expression, its last attribute or its text key; empty where it has none."""
    while True:
        match node:
            case ast.Name(id=text) | ast.Attribute(value=ast.Name(), attr=text):
                return text
            case ast.Subscript(slice=ast.Constant(value=str(text))):
                return text
            case (
                ast.Attribute(value=value)
                | ast.Subscript(value=value)
                | ast.Call(func=ast.Attribute(value=value))
                | ast.UnaryOp(operand=value)
                | ast.Starred(value=value)
            ):
                node = value
            case _:
                return ""


def arguments(caller: Place, inner: Place, torch: TorchNames) -> tuple[Argument, ...] | None:
    """What the call in a caller's line passes to the function of ``inner``; None where the line does not
    tell which call that is."""
    found = call(caller, inner, torch)
    if found is None:
        return None
    listed = [Argument("", argument) for argument in found.args]
    return (*listed, *(Argument(k.arg or "**", k.value) for k in found.keywords))


def call(caller: Place, inner: Place, torch: TorchNames) -> ast.Call | None:
    """The call of a caller's line that went on to ``inner``; None where the line does not tell."""
    return _call(caller, _function(inner), torch)


def _call(caller: Place, function: str, torch: TorchNames) -> ast.Call | None:
    """The call of a line that went on to ``function``."""
    if isinstance(caller.part, ast.Call):
        return caller.part
    listed = list(calls.calls(caller.nodes))
    named = [one for one in listed if calls.name(one) == function]
    entering = [one for one in listed if not calls.of_tensors(one, torch)]
    only = entering if len(entering) == 1 else listed
    return named[0] if named else only[0] if len(only) == 1 else None


def called(places: Sequence[Place], torch: TorchNames) -> Iterator[tuple[ast.Call, Shares]]:
    """The calls that led to the failing op, innermost first, with the shares of what it is that is called
    (`diagnose.naming.origins.CALLED`); functions of packages are left out."""
    function = ""
    for place in places:
        one = _call(place, function, torch)
        function = _function(place)
        if one is None or calls.of_package(one.func, torch) or dotted(one.func) == "main":
            continue
        use = Use("()", "")
        yield one, origins.table().shares(features(one.func, function, use), CALLED)
