"""What placement analysis says of a program: what was made where, what moved it, where devices meet."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from diagnose.kinds import DeviceType, EventKind, EvidenceKind
from diagnose.placement.semantics import Function, functions_by_line


class _File(NamedTuple):
    path: str
    lines: Sequence[str]
    tree: ast.Module
    defaulted: bool = False


class Source(_File):
    """A parsed file of the user's: its path, its lines without line feeds (the last is empty where the
    file ends with one), its tree; ``defaulted``: a file beside it sets where tensors are made."""

    @cached_property
    def text(self) -> str:
        """All of the file."""
        return "\n".join(self.lines)

    @cached_property
    def offsets(self) -> Sequence[int]:
        """Where each line begins in the text, in characters; the end of the text and of a last line feed
        comes last."""
        return [0, *accumulate(len(line) + 1 for line in self.lines)]

    def function_at(self, line: int) -> Function | None:
        """The innermost function that a line is in; None outside of functions."""
        return functions_by_line(self.tree).get(line)


class Spot(NamedTuple):
    """A node of a file: `ast` counts its lines from 1 and its columns in bytes from 0."""

    source: Source
    node: ast.AST
    function: str | None = None

    @property
    def file(self) -> str:
        """The path of its file."""
        return self.source.path

    @property
    def line(self) -> int:
        """The line it begins in."""
        return int(getattr(self.node, "lineno", 1))

    @property
    def enclosing(self) -> Function | None:
        """The innermost function it begins in; None outside of functions."""
        return self.source.function_at(self.line)

    def is_beside(self, other: Spot) -> bool:
        """Whether it stands in the same function as another place."""
        return (self.file, self.function) == (other.file, other.function)

    def is_above(self, other: Spot) -> bool:
        """Whether it stands in the same function on a line above another place."""
        return self.is_beside(other) and self.line < other.line

    @property
    def code(self) -> str:
        """The line it begins in, without its indentation."""
        return str(self.source.lines[self.line - 1]).strip()


class Device(NamedTuple):
    """A device as far as source tells it.

    ``number`` is which one, None where it is the current one or not known; ``home`` marks the device that
    the program itself chose (``device``, ``self.device``, that of a model's weights) rather than one that a
    line names by number; ``ranked`` one that the process's rank chooses; ``word`` is how a message calls a
    type that is none of the others.
    """

    type: DeviceType
    number: int | None = None
    home: bool = False
    ranked: bool = False
    word: str = ""

    def __str__(self) -> str:
        word = self.word or self.type.value
        return word if self.number is None else f"{word}:{self.number}"


class Step(NamedTuple):
    """Something that happened to a value. ``of`` is the literal that the device was written as, of what was
    passed the data class whose field it is."""

    what: EventKind
    spot: Spot
    device: Device | None = None
    of: Spot | None = None


class Evidence(NamedTuple):
    """What says that something may be on an accelerator, of which nobody knows where it is."""

    kind: EvidenceKind
    spot: Spot


class Suspect(NamedTuple):
    """Why a value is not where what it meets is, and what to edit.

    Args:
        cause: id of the root cause (taxonomy).
        name: what the user's code calls it, such as ``self.pe`` or ``model.fc``.
        spot: the expression or statement to edit:
            unregistered-tensor: the assignment ``self.pe = ...``; unregistered-submodule: the assignment of
            the list or dict; created-without-device: the factory call; hardcoded-device: the expression of
            the fixed device, or the call ``x.cuda(...)``/``x.to("cuda:1")``; module-not-moved,
            loss-or-metric-state, dataparallel-home-device: the expression that builds the module, or the
            weight tensor inside of it; submodule-added-after-move: the expression of the new layer;
            checkpoint-location: the ``torch.load`` call; generator-device: the ``torch.Generator`` call;
            input-not-moved: the expression that makes or yields the input; optimizer-state: the call that
            makes the optimizer or loads its state; rank-device: the expression of the device;
            meta-tensor: the ``.to(...)`` call, or the context expression that makes on meta;
            host-copy-needed: the expression that must come to the host.
        device: where it is; None where that is not known.
        wanted: where what it meets is.
        devices: expressions for the wanted device that are in scope at ``spot``, best first.
        steps: what happened to it, in order.
        meets: where it meets the other device; None where no such line was reached.
        move: the earlier call that moved its owner (``model.to(device)``), where there is one.
        owner: the variable that holds the model it belongs to, such as ``model``.
        beside: the line to look at, where that is another: there something like it was moved, and it was
            forgotten.
        sure: False where a step of the way was taken for likely and not known.
        because: what says that an operand is on an accelerator, where nothing calls the code.
    """

    cause: str
    name: str
    spot: Spot
    device: Device | None = None
    wanted: Device | None = None
    devices: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    meets: Spot | None = None
    move: Spot | None = None
    owner: str | None = None
    beside: Spot | None = None
    sure: bool = True
    because: Evidence | None = None

    @property
    def line(self) -> Spot:
        """The line to edit, or to look at first."""
        return self.beside or self.spot


class Checked(NamedTuple):
    """What the analysis of a file without a failure says: suspects, how many operations it could judge
    and how many it could not, and a sentence why it could not be read."""

    suspects: tuple[Suspect, ...] = ()
    judged: int = 0
    unknown: int = 0
    problem: str | None = None
