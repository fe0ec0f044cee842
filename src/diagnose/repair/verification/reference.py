"""Patches that are themselves what the program means: nothing else can be compared with them.

A library refuses a move outright (of a model that it has dispatched, or quantized) and an edit takes that
move away; or the mistake is who draws random numbers, and an edit names somebody who draws others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from diagnose.patterns import lazy
from diagnose.placement.semantics import calls, nodes
from diagnose.repair.comparison import changed
from diagnose.repair.model import Candidate, Ran
from diagnose.repair.syntax import tree_of

_DRAWN = "generator-device"
#: A move.
_MOVE = lazy(r"\.(?:to|cuda)\((?:[^()]|\([^()]*\))*\)")
#: What Python says of what arrays have and tensors do not, and what makes an array of a tensor.
_NO_ARRAY = "AttributeError: 'Tensor' object has no attribute"
_TO_ARRAY = lazy(r"(?:\.detach\(\))?\.cpu\(\)(?:\.numpy\(\))?|\.numpy\(\)")
#: What torch says where a program derives twice by what it computed once, and what makes a Parameter.
_DERIVED_AGAIN = "RuntimeError: Trying to backward through the graph a second time"
_PARAMETER = "Parameter("
_GROUPED = lazy(r"[()\s]")
#: A written number, and how many GPUs there are.
_NUMBER = lazy(r"\b\d+\b")
_COUNT = lazy(r"(?:\w+\.)*device_count\(\)")


def drops_refused(texts: Mapping[str, tuple[str, str]], wanted: Ran) -> bool:
    """Whether all that a patch does is to take away the move at which the program fails without device
    checks, too. ``texts`` are those of the edited files, before and after."""
    if wanted.failure is None or len(texts) != 1:
        return False
    ((file, (before, after)),) = texts.items()
    blocks = list(changed(before, after))
    if len(blocks) != 1:
        return False
    gone, made = blocks[0]
    failed, _, line = wanted.failure.place.rpartition(":")
    if failed != file or int(line) - 1 not in gone:
        return False
    if made:
        old, new = before.splitlines()[gone.start], after.splitlines()[made.start]
        return len(gone) == len(made) == 1 and old != new == _MOVE.sub("", old)
    return any(
        _is_move(one) and one.lineno - 1 == gone.start and one.end_lineno == gone.stop
        for one in nodes(tree_of(before), ast.stmt)
    )


def becomes_array(texts: Mapping[str, tuple[str, str]], wanted: Ran) -> bool:
    """Whether all that a patch does is to make arrays of tensors, of which the program asks what only
    arrays have: without device checks it fails there, too."""
    error = wanted.failure.error if wanted.failure is not None else ""
    return error.startswith(_NO_ARRAY) and all(
        ".numpy()" in after and _TO_ARRAY.sub("", after) == _TO_ARRAY.sub("", before)
        for before, after in texts.values()
    )


def becomes_parameter(texts: Mapping[str, tuple[str, str]], wanted: Ran) -> bool:
    """Whether all that a patch does is to compute in a Parameter what was computed of it: without device
    checks the program fails where it derives for the second time by what it computed once."""
    error = wanted.failure.error if wanted.failure is not None else ""
    return error.startswith(_DERIVED_AGAIN) and all(
        _PARAMETER in row and sorted(_GROUPED.sub("", row)) == sorted(_GROUPED.sub("", new))
        for before, after in texts.values()
        for row, new in _rows(before, after)
    )


def _rows(before: str, after: str) -> Iterator[tuple[str, str]]:
    """The lines that an edit changes, as they were and as they are."""
    olds, news = before.splitlines(), after.splitlines()
    for gone, made in changed(before, after):
        old, new = "".join(olds[line] for line in gone), "".join(news[line] for line in made)
        yield old, new


def starts_as_many(texts: Mapping[str, tuple[str, str]]) -> bool:
    """Whether all that a patch does is to start as many processes as there are GPUs, in place of a number
    that is written down: their parts of the data are others then."""
    for before, after in texts.values():
        for old, new in _rows(before, after):
            if not _COUNT.search(new) or _COUNT.sub("#", new) not in _hashed(old):
                return False
    return True


def _hashed(row: str) -> list[str]:
    """A row with each of its numbers in turn left out."""
    return [f"{row[: one.start()]}#{row[one.end() :]}" for one in _NUMBER.finditer(row)]


def _is_move(statement: ast.stmt) -> bool:
    """Whether a statement moves something, and does nothing else."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="to" | "cuda", value=moved))):
            return not calls(moved)
        case ast.Assign(
            targets=[target], value=ast.Call(func=ast.Attribute(attr="to" | "cuda", value=moved))
        ):
            return ast.unparse(target) == ast.unparse(moved)
    return False


def draws_otherwise(texts: Mapping[str, tuple[str, str]], applied: Sequence[Candidate]) -> bool:
    """Whether all that a patch does is to say who draws, where nobody was named."""
    return all(one.cause == _DRAWN for one in applied) and all(
        _generators(after) > _generators(before) and _named(before) == _named(after)
        for before, after in texts.values()
    )


def _generators(text: str) -> int:
    return sum(word.arg == "generator" for word in nodes(tree_of(text), ast.keyword))


def _named(text: str) -> list[str]:
    """A program without its generators."""
    tree = ast.parse(text)  # one of its own, which is changed: nothing is to be kept of it
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [word for word in node.keywords if word.arg != "generator"]
    return ast.unparse(tree).splitlines()
