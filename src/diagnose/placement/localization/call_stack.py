"""Where a value is defined that failed far from there: it is followed through the calls of the traceback,
from a parameter to what the caller gives for it, to the statement that binds it."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from diagnose.model import TorchNames
from diagnose.placement.model import Source, Spot
from diagnose.placement.semantics import (
    Binding,
    Function,
    argument,
    around,
    bindings,
    called,
    calls,
    dotted,
    lines_of,
    positional,
    top,
)

#: Assignments that are followed within a function, at most.
_FURTHER = 6


class Line(NamedTuple):
    """A line of a file that the traceback shows."""

    source: Source
    number: int

    @property
    def function(self) -> Function | None:
        """The function around."""
        return self.source.function_at(self.number)

    @property
    def owner(self) -> ast.ClassDef | None:
        """The class whose method that is."""
        function = self.function
        found = around(self.source.tree, function, ast.ClassDef) if function else iter(())
        owner = next(found, None)
        return owner if owner is not None and function in owner.body else None

    def calls(self, torch: TorchNames) -> list[ast.Call]:
        """The calls of the line that may enter somebody's code."""
        return [
            one
            for one in calls(self.source.tree)
            if self.number in lines_of(one)
            and (dotted(one.func) or "").partition(".")[0] not in torch.packages
            and not (isinstance(one.func, ast.Attribute) and one.func.attr in torch.of_tensors)
        ]


def layer(line: Line, torch: TorchNames) -> ast.expr | None:
    """The module whose weights a line reads: the only one that it calls, of a module's own layers that
    module; None where the line does not tell."""
    entered = [one.func for one in line.calls(torch)]
    methods = (
        [one.name for one in line.owner.body if isinstance(one, Function)] if line.owner else []
    )
    own = [one for one in entered if (dotted(one) or "").startswith("self.")]
    if "forward" in methods and own and len(own) == len(entered):
        return ast.Name("self")
    return entered[0] if len(entered) == 1 and dotted(entered[0]) else None


def given(line: Line, torch: TorchNames) -> ast.expr | None:
    """The one argument of the only call of a line; None where there are more."""
    entered = line.calls(torch)
    alone = len(entered) == 1 and len(entered[0].args) == 1 and not entered[0].keywords
    return entered[0].args[0] if alone else None


def definition(value: ast.expr, stack: Sequence[Line], torch: TorchNames) -> Spot | None:
    """The expression, or the statement of several results, that a value is bound to; None where the calls
    do not tell.

    Args:
        value: an expression of the first of the lines.
        stack: lines of the user's files, innermost first, each of which calls the function of the one
            before it.
        torch: what torch calls its things.
    """
    for number, line in enumerate(stack):
        found = _bound(value, line, torch)
        if not isinstance(found, ast.arg):
            return found
        given = _given(found.arg, line, stack[number + 1], torch) if stack[number + 1 :] else None
        if given is None:
            return None
        value = given
    return None


def _bound(value: ast.expr, line: Line, torch: TorchNames) -> Spot | ast.arg | None:
    """Where a value is bound in the function of a line or around it; the parameter that it is."""
    source, function, above = line.source, line.function, float(line.number)
    for _ in range(_FURTHER):
        value = _root(value, torch)
        name = dotted(value)
        if name is None:
            return _spot(source, value)
        if name.startswith("self."):
            return _attribute(".".join(name.split(".")[:2]), line)
        name = name.partition(".")[0]
        found = _last(bindings(function), name, above) if function is not None else None
        given = positional(function) if function is not None else []
        if found is None and (taken := [one for one in given if one.arg == name]):
            return taken[0]
        found = found or _last(_outside(source, function), name)
        if found is None:
            return None
        if found.value is None:
            binds = isinstance(found.by, ast.For | ast.AsyncFor | ast.Assign)
            return _spot(source, found.by) if binds else None
        if dotted(_root(found.value, torch)) is None:
            return _spot(source, found.value)
        value, above = found.value, getattr(found.by, "lineno", 0)
    return None


def _spot(source: Source, node: ast.AST) -> Spot:
    function = next(around(source.tree, node, ast.FunctionDef), None)
    return Spot(source, node, function.name if function is not None else None)


def _outside(source: Source, function: Function | None) -> Iterator[Binding]:
    """What the functions around one bind, else the file."""
    outer = around(source.tree, function, ast.FunctionDef) if function is not None else ()
    for scope in (*outer, *top(source.tree)):
        yield from bindings(scope)


def _root(value: ast.expr, torch: TorchNames) -> ast.expr:
    """What a value is on the device of: ``x`` of ``x.view(1, -1)[0]``."""
    match value:
        case ast.Call(func=ast.Attribute(value=of, attr=name)):
            if name in torch.same_device and dotted(of) not in torch.packages:
                return _root(of, torch)
        case ast.Subscript(value=of):
            return _root(of, torch)
    return value


def _attribute(name: str, line: Line) -> Spot | None:
    """The one assignment of an attribute in the class around."""
    said = [one for one in bindings(line.owner) if dotted(one.target) == name] if line.owner else []
    values = [one.value for one in said if one.value and not _is_none(one.value)]
    return _spot(line.source, values[0]) if len(values) == 1 else None


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _last(found: Iterable[Binding], name: str, above: float = math.inf) -> Binding | None:
    """The last binding of a name above a line."""
    told = [one for one in found if dotted(one.target) == name]
    before = [(getattr(one.by, "lineno", 0), one) for one in told]
    return max(
        (one for one in before if one[0] < above), key=lambda one: one[0], default=(0, None)
    )[1]


def _given(name: str, inner: Line, outer: Line, torch: TorchNames) -> ast.expr | None:
    """What the call of an outer line gives for a parameter of the function of an inner one."""
    function = inner.function
    call = _entering(inner, outer, torch)
    if function is None or call is None:
        return None
    listed = [one.arg for one in positional(function)]
    method = inner.owner is not None and listed[:1] == ["self"]
    if method and name == listed[0]:
        of = call.func
        if called(call) == function.name and isinstance(of, ast.Attribute):
            of = of.value
        return ast.Name("self") if called(of) == "super" else of
    return argument(call, name, listed.index(name) - method)


def _entering(inner: Line, outer: Line, torch: TorchNames) -> ast.Call | None:
    """The call of an outer line that runs the function of an inner one: that of its name, else the only one
    that gives as much as it takes."""
    function, listed = inner.function, outer.calls(torch)
    if function is None:
        return None
    named = [one for one in listed if called(one) == function.name]
    takes = len(positional(function)) - (inner.owner is not None)
    needs = takes - len(function.args.defaults)
    fitting = [
        one
        for one in listed
        if needs <= len(one.args) + len(one.keywords)
        and (len(one.args) <= takes or function.args.vararg is not None)
    ]
    found = named or fitting
    return found[0] if len(found) == 1 else None
