"""Why an operand is where it is: the question, answers to it in an order that is stated, and the code
around the place where it is asked: its function, the conditions and handlers that it stands in.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import CPU
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.provenance import Reason, born_at, first_of, last_move
from diagnose.placement.semantics import Function, calls, lines_of, nodes, reads
from diagnose.placement.tensors import Module, Tensor

_Asked = TypeVar("_Asked")


class _Question(NamedTuple):
    stray: Meets
    meeting: Meeting
    other: Meets | None = None
    failed: bool = True
    apart: bool = False
    on_gpus: bool = False


class Question(_Question):
    """An operand of a meeting, one that it met, and whether the program failed there; ``apart``: it has
    parts of models on several GPUs, ``on_gpus``: no message names the cpu."""

    @property
    def tensor(self) -> Tensor:
        """What the operand brings."""
        return self.stray.tensor

    @property
    def module(self) -> Module | None:
        """The module that the operand is, or that it comes from."""
        value = self.stray.value
        return value if isinstance(value, Module) else self.tensor.module

    @property
    def layer(self) -> Module | None:
        """The same of weights, and of what is computed from weights alone."""
        return self.module if self.tensor.maker in (Origin.WEIGHT, Origin.COMPUTED) else None

    def meets(self, what: ConstraintKind, maker: Origin | None = None) -> bool:
        """Whether the meeting is of a kind, and the operand of an origin."""
        return self.meeting.what == what and maker in (None, self.tensor.maker)

    @property
    def wanted(self) -> Device | None:
        """Where the operand is to be; None where that is not known."""
        if self.other is not None:
            return self.other.tensor.device
        return CPU if self.meeting.what == ConstraintKind.HOST else None

    @cached_property
    def move(self) -> Step | None:
        """The step that moved it last."""
        return last_move(self.tensor.steps)

    @cached_property
    def made(self) -> Step | None:
        """The step that made or loaded it."""
        return born_at(self.tensor.steps)

    @property
    def creation(self) -> Step:
        """The same, where it was seen."""
        assert self.made is not None
        return self.made

    @cached_property
    def kept(self) -> Step | None:
        """The step by which it was kept: by the class that fails with it, where several keep it."""
        whose = (self.meeting.spot.function or "").partition(".")[0]
        keeps = [step for step in self.tensor.steps if step.what == EventKind.KEPT]
        own = (one for one in keeps if (one.spot.function or "").partition(".")[0] == whose)
        return next(own, next(iter(keeps), None))

    def first(self, *what: EventKind) -> Step | None:
        """The first step of any of some kinds."""
        return first_of(self.tensor.steps, *what)

    @property
    def use(self) -> Spot:
        """Where it is used."""
        return self.meeting.spot._replace(node=self.stray.node)

    def used(self, cause: str, *, beside: Spot | None = None) -> Reason:
        """A cause where it is used."""
        return Reason(cause, self.use, self.meeting.frame, beside=beside)

    def at(self, step: Step | None, cause: str, *, named: bool = False) -> Reason | None:
        """A cause at a step of its life, if there is one; ``named`` by the attribute that holds it."""
        if step is None:
            return None
        name = f"self.{self.tensor.name}" if named else ""
        return Reason(cause, step.spot, self.tensor.frame, name)


#: An answer to a question; None where it has none.
Answer = Callable[[_Asked], Reason | None]
#: An answer with its name. Where what comes third holds, it settles the question, though it may have none.
Explanation = tuple[str, Answer[_Asked]] | tuple[str, Answer[_Asked], Callable[[_Asked], bool]]


def answers(*explanations: Explanation[_Asked]) -> Answer[_Asked]:
    """The first of some answers, in their order, as one."""

    def answer(asked: _Asked) -> Reason | None:
        for _, explain, *settles in explanations:
            if not settles or settles[0](asked):
                found = explain(asked)
                if found is not None or settles:
                    return found
        return None

    return answer


#: What conditions of code say that does one thing on a GPU and another one elsewhere.
OF_DEVICES = ("cuda", "gpu", "cpu", "device")


@lru_cache(maxsize=8)
def classes_of(tree: ast.Module) -> dict[str, list[ast.ClassDef]]:
    """The classes of a file, by their names."""
    found: dict[str, list[ast.ClassDef]] = {}
    for one in nodes(tree, ast.ClassDef):
        found.setdefault(one.name, []).append(one)
    return found


@lru_cache(maxsize=8)
def asks_for_a_device(function: Function) -> bool:
    """Whether a condition within a function asks for a device."""
    tests = (one.test for one in nodes(function, ast.If, ast.IfExp, ast.Assert))
    return any(word in ast.unparse(test) for test in tests for word in OF_DEVICES)


def is_of_some(meeting: Meeting) -> bool:
    """Whether a condition decides which processes come to a meeting, or another file where they are."""
    return _is_joined(meeting) or any(
        spot.line in _guarded(spot.source.tree) for spot in (meeting.spot, *meeting.calls)
    )


def is_caught(meeting: Meeting) -> bool:
    """Whether the program goes on where code refuses what it is given."""
    return any(spot.line in _tried(spot.source.tree) for spot in (meeting.spot, *meeting.calls))


@lru_cache(maxsize=8)
def _tried(tree: ast.Module) -> frozenset[int]:
    """The lines of a file in the body of a ``try``."""
    return lines((one.body[0], one.body[-1]) for one in nodes(tree, ast.Try) if one.handlers)


def is_handling(spot: Spot) -> bool:
    """Whether a place is in a handler: the program comes there where something else has failed."""
    return spot.line in _handled(spot.source.tree)


@lru_cache(maxsize=16)
def _handled(tree: ast.Module) -> frozenset[int]:
    """The lines of a file in a handler."""
    return lines((one.body[0], one.body[-1]) for one in nodes(tree, ast.ExceptHandler))


@lru_cache(maxsize=8)
def _guarded(tree: ast.Module) -> frozenset[int]:
    """The lines of a file under a condition, other than that it is the program."""
    return lines(
        (one.body[0], one) for one in nodes(tree, ast.If) if not reads(one.test, "__name__")
    )


def is_expected(meeting: Meeting) -> bool:
    """Whether a test says that what meets here is refused."""
    return any(spot.line in _refused(spot.source.tree) for spot in (meeting.spot, *meeting.calls))


@lru_cache(maxsize=8)
def _refused(tree: ast.Module) -> frozenset[int]:
    """The lines of a file that a test expects an error of."""
    return lines(
        (one.body[0], one)
        for one in nodes(tree, ast.With)
        if any(_EXPECTS.search(ast.unparse(item.context_expr)) for item in one.items)
    )


def lines(spans: Iterable[tuple[ast.stmt, ast.stmt]]) -> frozenset[int]:
    """The lines from the first to the last of two statements."""
    return frozenset(line for first, last in spans for line in lines_of(first, last))


#: Contexts of tests whose bodies fail.
_EXPECTS = re.compile(r"\b(assertRaises|assertRaisesRegex|raises|suppress)\(")


def is_test(spot: Spot) -> bool:
    """Whether a place is in a test: what it asserts, it was seen to hold."""
    function = spot.enclosing
    return function is not None and function.name.startswith("test")


def _is_joined(meeting: Meeting) -> bool:
    """Whether the processes that ask for their rank here were joined elsewhere, where each may have chosen
    its device."""
    tree = meeting.spot.source.tree
    return bool(calls(tree, "get_rank")) and not calls(tree, *_JOINING)


#: What joins processes, or chooses a device for one.
_JOINING = frozenset({"init_process_group", "set_device", "spawn", "start_processes"})
