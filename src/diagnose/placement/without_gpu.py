"""What fails on a machine without a GPU, though the code around it chooses its device: a literal
``.cuda()`` beside ``.to(self.device)``, a checkpoint that is loaded to where it was saved.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from diagnose.kinds import EvidenceKind
from diagnose.placement import Placing
from diagnose.placement.device_patterns import (
    destinations,
    is_written_down,
    names_gpu,
    of_class,
)
from diagnose.placement.devices import named_so
from diagnose.placement.localization.availability import statement_around
from diagnose.placement.localization.question import is_test
from diagnose.placement.model import Evidence, Source, Spot, Suspect
from diagnose.placement.semantics import (
    Function,
    argument,
    bindings,
    called,
    calls,
    dotted,
    last_name,
    nodes,
    parameters,
    path_to,
    scope_of,
    top,
)

_Scope = Function | ast.ClassDef
#: What conditions and handlers ask that see to a machine without a GPU, or to one by an option.
_ASKS = re.compile(r"cuda|gpu|device|is_available|cpu", re.IGNORECASE)
_NUMBERED = re.compile(r"cuda(?::|\()(\d+)")
#: What trains.
_TRAINS = re.compile(r"_*(train|fit|backward)")
#: What holds no tensors of a GPU.
_NUMBERS = re.compile(r"sched|scaler|\brng", re.IGNORECASE)
#: What programs call what they load weights from, and to.
_WEIGHTS = re.compile(r"ckpt|checkpoint|state|model|weight|pretrain|resume|snapshot", re.IGNORECASE)


def suspects(source: Source, asking: Placing) -> Iterator[Suspect]:
    """The literals of a file that need a GPU where the code around them chooses its device, and the loads
    where its package asks whether there is one (``asking``), in their order. None is sure: the program may
    be meant for GPUs alone."""
    if len({int(number) for number in _NUMBERED.findall(source.text)}) > 1:
        return  # it is for several GPUs
    fixed = any(_is_literal(call) for one in top(source.tree) for call in calls(one))
    for call in calls(source.tree):
        made = _literal(call)
        # A program of literals is for GPUs.
        if (made is not None and not fixed) or (made is None and _is_load(call, source)):
            yield from _weighed(source, call, made, asking)


def _weighed(
    source: Source, call: ast.Call, made: ast.expr | None, asking: Placing
) -> Iterator[Suspect]:
    """A literal or a load that the code around it speaks against, and which nothing there sees to."""
    scopes = [one for one in path_to(source.tree, call) if isinstance(one, _Scope)]
    spot = Spot(source, call, ".".join(one.name for one in scopes) or None)
    if _is_seen_to(spot) or (made is None and not _is_of_weights(spot)):
        return
    tree, most = source.tree, made is not None
    found = (_chosen(tree, one, by_most=most) for one in reversed(scopes))
    told = next(filter(None, found), None)
    because = Evidence(EvidenceKind.CHOSEN, spot._replace(node=told)) if told is not None else None
    if because is None and made is None:
        because = _asked(source) or ((file := asking()) and _asked(file, EvidenceKind.PACKAGE))
    if because is not None:
        named = (ast.unparse(told),) if told is not None and _reaches(told, spot) else None
        yield Suspect(
            "hardcoded-device" if made is not None else "checkpoint-location",
            ast.unparse(made or call),
            spot,
            devices=named or tuple(of_class(spot)),
            sure=False,
            because=because,
        )


def _asked(source: Source, kind: EvidenceKind = EvidenceKind.CHOSEN) -> Evidence | None:
    """Where a file asks whether there is a GPU."""
    asked = calls(source.tree, "is_available")
    found = (one for one in asked if dotted(one.func) == "torch.cuda.is_available")
    return next((Evidence(kind, Spot(source, one, None)) for one in found), None)


def _literal(call: ast.Call) -> ast.expr | None:
    """The expression that a call moves to a GPU, or makes there, by a literal; None for other calls."""
    match call.func:
        case ast.Attribute(value=owner, attr="cuda") if not call.args and not call.keywords:
            return None if dotted(owner) == "torch" else owner
        case ast.Attribute(value=owner, attr="to"):
            said = argument(call, "device", 0)
            return owner if said is not None and names_gpu(said) else None
    said = argument(call, "device")
    ours = (dotted(call.func) or "").startswith("torch.")
    return call if ours and said is not None and names_gpu(said) else None


def _is_load(call: ast.Call, source: Source) -> bool:
    """Whether a call loads to where it was saved what the file does not save itself."""
    told = any(one.arg in (None, "map_location") for one in call.keywords)
    if dotted(call.func) != "torch.load" or len(call.args) != 1 or told:
        return False
    before = (one for one in calls(scope_of(source.tree, call)) if one.lineno < call.lineno)
    if any(_TRAINS.match(called(one)) for one in before):
        return False  # this process has saved it
    saves = calls(source.tree, "save")
    of_torch = (one for one in saves if dotted(one.func) == "torch.save")
    if any(calls(scope_of(source.tree, one), "cpu") for one in of_torch):
        return False  # from the host
    saved = (one.args[1] for one in saves if len(one.args) > 1)
    return not any(
        isinstance(one, ast.Constant) and ast.dump(one) == ast.dump(call.args[0]) for one in saved
    )


def _is_of_weights(spot: Spot) -> bool:
    """Whether what is loaded is called what weights are, of which tensors on GPUs are saved most often."""
    text = ast.unparse(statement_around(spot) or spot.node)
    return _WEIGHTS.search(text) is not None and _NUMBERS.search(text) is None


@lru_cache(maxsize=64)
def _chosen(tree: ast.Module, scope: _Scope, *, by_most: bool) -> ast.expr | None:
    """What a function or a class goes by for a device: what it moves others to, or sets, or asks whether it
    is the cpu; ``by_most``: None where literals are as many."""
    told = [one for one in destinations(scope, "device", "map_location") if _is_named(one)]
    told += [
        one.target for one in bindings(scope) if last_name(one.target) in ("device", "_device")
    ]
    told = [one for one in told if not is_written_down(dotted(one) or "", tree)]
    if told and not (by_most and len(told) <= sum(map(_is_literal, calls(scope)))):
        return told[0]
    asked = nodes(scope, ast.Compare) if isinstance(scope, Function) else ()
    return next((one for one in asked if ast.unparse(one.comparators[0]) == "'cpu'"), None)


def _is_named(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and named_so(last_name(node))


def _is_literal(call: ast.Call) -> bool:
    return _literal(call) is not None


def _reaches(told: ast.expr, spot: Spot) -> bool:
    """Whether what names a device in one place does so in another."""
    if (dotted(told) or "").startswith("self."):
        return True
    function = spot.enclosing
    given = parameters(function) if function is not None else []
    return isinstance(told, ast.Name) and any(one.arg == told.id for one in given)


def _is_seen_to(spot: Spot) -> bool:
    """Whether a condition or a handler around a place, or one of its function that leaves it, sees to
    machines without a GPU."""
    for one in path_to(spot.source.tree, spot.node):
        match one:
            case ast.If(test=test) | ast.IfExp(test=test) if _ASKS.search(ast.unparse(test)):
                return True
            case ast.Try() | ast.ExceptHandler():
                return True
    function = spot.enclosing
    if function is None or _ASKS.search(function.name) or is_test(spot):
        return True
    return _is_left(function)


@lru_cache(maxsize=64)
def _is_left(function: Function) -> bool:
    """Whether a condition that asks for a GPU leaves a function."""
    leaving = (
        one.test
        for one in nodes(function, ast.If, ast.Assert)
        if isinstance(one, ast.Assert) or any(nodes(one, ast.Raise, ast.Return))
    )
    return any(_ASKS.search(ast.unparse(test)) for test in leaving)
