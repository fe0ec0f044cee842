"""Methods that an object keeps as its own: those of a module stay the first one's in its replicas."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.placement.holding import entry_of, names_one_of, within
from diagnose.placement.model import Source
from diagnose.placement.walking import walk

_Function = ast.FunctionDef | ast.AsyncFunctionDef
#: Decorators that make of a function what is no method of an object.
_NO_METHOD = frozenset({"staticmethod", "classmethod", "property", "cached_property"})
#: Functions and methods that look at the names of a table alone.
_OF_NAMES = frozenset({"sorted", "len", "join"})


class Kept(NamedTuple):
    """What a class keeps under a name, and the calls of it.

    ``methods`` are its own methods as they are bound there (``self.up``); ``asked`` those that are asked
    for by a name (``getattr(self, "on_" + name)``); ``lambdas`` stand among them, and ``others`` are
    functions that take no object, and parts of the object.
    """

    methods: Sequence[ast.Attribute]
    asked: Sequence[ast.Call]
    lambdas: Sequence[ast.Lambda]
    others: Sequence[ast.expr]
    calls: Sequence[ast.Call]

    def bound(self) -> list[ast.expr]:
        """What stays bound to the first object, in the order of the file."""
        closed = (one for one in self.lambdas if _names_self(one.body))
        return sorted((*self.methods, *self.asked, *closed), key=lambda one: one.lineno)


def kept_methods(source: Source, line: int) -> Kept | None:
    """The methods that an object keeps, where a line calls one of them: ``self.modes[mode](x)``, of
    ``self.modes = {"probe": self._probe}``, on whatever way it comes from there to the call; None where
    that is not all that is done with what is kept.

    Args:
        source: the file.
        line: the number of the line.
    """
    for made in walk(source.tree):
        if isinstance(made, ast.ClassDef) and made.lineno <= line <= (made.end_lineno or line):
            for call in walk(made):
                if isinstance(call, ast.Call) and call.lineno <= line <= (call.end_lineno or line):
                    found = _Search(source.tree, made).from_call(call)
                    if found is not None:
                        return found
    return None


class _Place(NamedTuple):
    """What holds something: an attribute of the object, or a variable of a function."""

    function: ast.AST | None
    name: str


class _Search:
    """From a call to all that a class keeps beside what that calls, and to all other calls of these."""

    def __init__(self, tree: ast.Module, made: ast.ClassDef) -> None:
        self._tree, self._made = tree, made
        self._outer = {
            inner: outer for outer in walk(made) for inner in ast.iter_child_nodes(outer)
        }
        self._own = {
            one.name
            for one in made.body
            if isinstance(one, _Function)
            and not any(ast.unparse(each) in _NO_METHOD for each in one.decorator_list)
        }
        self._waiting: list[_Place] = []
        self._methods: list[ast.Attribute] = []
        self._asked: list[ast.Call] = []
        self._lambdas: list[ast.Lambda] = []
        self._others: list[ast.expr] = []
        self._calls: list[ast.Call] = []

    def from_call(self, call: ast.Call) -> Kept | None:
        """What is kept beside what a call calls; None where that is not all known."""
        place = self._place(entry_of(call.func) or call.func)
        if place is None or (place.function is None and place.name in self._own):
            return None
        self._waiting, seen = [place], set[_Place]()
        while self._waiting:
            place = self._waiting.pop()
            if place not in seen:
                seen.add(place)
                if not self._is_bound(place) or not all(map(self._is_used, self._read(place))):
                    return None
        found = Kept(self._methods, self._asked, self._lambdas, self._others, self._calls)
        return found if found.bound() and any(one.function is None for one in seen) else None

    # --- what holds them ----------------------------------------------------------------------------

    def _place(self, node: ast.AST) -> _Place | None:
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return _Place(None, name)
            case ast.Name(id=name) if (function := self._function(node)) is not None:
                place = _Place(function, name)
                return place if any(self._stored(place)) else None
        return None

    def _function(self, node: ast.AST) -> ast.AST | None:
        """The function around a node."""
        outer = self._outer.get(node)
        while outer is not None and not isinstance(outer, _Function):
            outer = self._outer.get(outer)
        return outer

    def _nodes(self, place: _Place) -> Iterator[ast.Attribute | ast.Name]:
        """The nodes that stand for what holds something."""
        for one in walk(place.function or self._made):
            match one:
                case ast.Name(id=place.name) if place.function is not None:
                    yield one
                case ast.Attribute(value=ast.Name(id="self"), attr=place.name):
                    if place.function is None:
                        yield one

    def _stored(self, place: _Place) -> Iterator[ast.Attribute | ast.Name]:
        return (one for one in self._nodes(place) if isinstance(one.ctx, ast.Store))

    def _read(self, place: _Place) -> Iterator[ast.Attribute | ast.Name]:
        return (one for one in self._nodes(place) if not isinstance(one.ctx, ast.Store))

    # --- what is bound ------------------------------------------------------------------------------

    def _is_bound(self, place: _Place) -> bool:
        """Whether something is bound in the class, and all that is bound is known."""
        stored = list(self._stored(place))
        return bool(stored) and all(map(self._is_stored, stored))

    def _is_stored(self, target: ast.AST) -> bool:
        statement = self._outer[target]
        loop = self._outer.get(statement)
        match statement:
            case ast.Assign(targets=[_], value=value) | ast.For(target=ast.Name(), iter=value):
                return self._is_known(value)
            case ast.AnnAssign(value=value):
                return value is None or self._is_known(value)
            case ast.Tuple(elts=[_, last]) if last is target and isinstance(loop, ast.For):
                return self._is_known(loop.iter)  # ``for name, method in self.modes.items()``
        return False

    def _is_known(self, value: ast.expr) -> bool:
        """Whether a value is methods, functions, or what holds them; it is noted then."""
        if (inner := within(value)) is not None:
            return all(map(self._is_known, inner))
        match value:
            case ast.Constant(value=None):
                return True
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in self._own:
                self._methods.append(value)
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="self"), name]):
                self._asked.append(value)
                return self._is_asked(name)
            case ast.Lambda(args=args):
                self._lambdas.append(value)
                return not _names_self(args)
            case _ if self._is_function(value) or self._is_part(value):
                self._others.append(value)
            case _ if (place := self._place(value)) is not None:
                self._waiting.append(place)
            case _:
                return False
        return True

    def _is_asked(self, name: ast.expr) -> bool:
        """Whether what is asked for by a name is a method of the class in any case."""
        stored = {
            one.attr
            for one in walk(self._made)
            if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
        }
        return names_one_of(name, self._own) and not names_one_of(name, stored)

    def _is_function(self, value: ast.expr) -> bool:
        """Whether a value is a function of a library's, or of the file."""
        name = ast.unparse(value)
        root, _, last = name.partition(".")
        if not isinstance(value, ast.Name | ast.Attribute) or self._place(value) is not None:
            return False
        if name.rpartition(".")[2][:1].isupper():
            return False
        imported = {
            (each.asname or each.name).partition(".")[0]
            for one in walk(self._tree)
            if isinstance(one, ast.Import | ast.ImportFrom)
            for each in one.names
        }
        of_file = {one.name for one in self._tree.body if isinstance(one, _Function)}
        return root in imported or (not last and root in of_file)

    def _is_part(self, value: ast.expr) -> bool:
        """Whether a value in a list or dict is a part that the object registers, by what is bound to it."""
        place = self._place(value)
        shown = isinstance(self._outer[value], ast.Dict | ast.List | ast.Tuple)
        if place is None or place.function is not None or not shown:
            return False
        bound = [self._outer[one] for one in self._stored(place)]
        return bool(bound) and all(
            isinstance(one, ast.Assign) and _is_built(one.value) for one in bound
        )

    # --- what is done with them ---------------------------------------------------------------------

    def _is_used(self, node: ast.AST) -> bool:
        """Whether a node that stands for a method, or for what holds it, is called, or handed on to where
        calls of it are seen; they are noted."""
        outer = self._outer[node]
        match outer:
            case ast.Call(func=func) if func is node:
                self._calls.append(outer)
                return True
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _OF_NAMES:
                return True
            case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.If():
                return True
            case ast.IfExp(test=test) if test is node:
                return True
            case ast.Attribute(attr="keys"):
                return True
            case ast.Attribute(attr="get" | "values" | "items"):
                return self._is_used(self._outer[outer])
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
                pass
            case ast.For(target=ast.Name() as target) | ast.For(target=ast.Tuple(elts=[_, target])):
                pass
            case ast.Subscript(value=held) if held is node:
                return self._is_used(outer)
            case ast.IfExp() | ast.Dict() | ast.List() | ast.Tuple():
                return self._is_used(outer)
            case _:
                return False
        place = self._place(target)
        if place is not None:
            self._waiting.append(place)
        return place is not None


def _is_built(value: ast.expr) -> bool:
    """Whether a value is what a class makes, as far as its name tells."""
    return isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2][:1].isupper()


def _names_self(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "self" for one in walk(node))
