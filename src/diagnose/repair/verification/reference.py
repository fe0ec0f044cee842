"""Patches that are themselves what the program means: nothing else can be compared with them.

A library refuses a move outright (of a model that it has dispatched, or quantized) and an edit takes that
move away; or the mistake is who draws random numbers, and an edit names somebody who draws others.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from diagnose.patterns import lazy
from diagnose.placement.semantics import calls, nodes
from diagnose.repair.model import Candidate, Ran
from diagnose.repair.patch import Patch

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


def drops_refused(patches: Mapping[str, Patch], wanted: Ran) -> bool:
    """Whether all that a patch does is to take away the move at which the program fails without device
    checks, too. ``patches`` are those of the files by their paths."""
    if wanted.failure is None or len(patches) != 1:
        return False
    ((file, patch),) = patches.items()
    if len(patch.hunks) != 1:
        return False
    gone, made, was, now = patch.hunks[0]
    failed, _, line = wanted.failure.place.rpartition(":")
    if failed != file or int(line) - 1 not in gone:
        return False
    if made:
        return len(gone) == len(made) == 1 and was != now == _MOVE.sub("", was)
    return any(
        _is_move(one) and one.lineno - 1 == gone.start and one.end_lineno == gone.stop
        for one in nodes(patch.old, ast.stmt)
    )


def becomes_array(patches: Mapping[str, Patch], wanted: Ran) -> bool:
    """Whether all that a patch does is to make arrays of tensors, of which the program asks what only
    arrays have: without device checks it fails there, too."""
    error = wanted.failure.error if wanted.failure is not None else ""
    return error.startswith(_NO_ARRAY) and all(
        ".numpy()" in one.after and _TO_ARRAY.sub("", one.after) == _TO_ARRAY.sub("", one.before)
        for one in patches.values()
    )


def becomes_parameter(patches: Mapping[str, Patch], wanted: Ran) -> bool:
    """Whether all that a patch does is to compute in a Parameter what was computed of it: without device
    checks the program fails where it derives for the second time by what it computed once."""
    error = wanted.failure.error if wanted.failure is not None else ""
    return error.startswith(_DERIVED_AGAIN) and all(
        _PARAMETER in hunk.was
        and sorted(_GROUPED.sub("", hunk.was)) == sorted(_GROUPED.sub("", hunk.now))
        for one in patches.values()
        for hunk in one.hunks
    )


def starts_as_many(patches: Mapping[str, Patch]) -> bool:
    """Whether all that a patch does is to start as many processes as there are GPUs, in place of a number
    that is written down: their parts of the data are others then."""
    return all(
        _COUNT.search(hunk.now) and _COUNT.sub("#", hunk.now) in _hashed(hunk.was)
        for one in patches.values()
        for hunk in one.hunks
    )


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


def draws_otherwise(patches: Mapping[str, Patch], applied: Sequence[Candidate]) -> bool:
    """Whether all that a patch does is to say who draws, where nobody was named."""
    return all(one.cause == _DRAWN for one in applied) and all(
        _generators(one.new) > _generators(one.old) and _named(one.before) == _named(one.after)
        for one in patches.values()
    )


def _generators(tree: ast.Module) -> int:
    return sum(word.arg == "generator" for word in nodes(tree, ast.keyword))


def _named(text: str) -> list[str]:
    """A program without its generators."""
    tree = ast.parse(text)  # one of its own, which is changed: nothing is to be kept of it
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [word for word in node.keywords if word.arg != "generator"]
    return ast.unparse(tree).splitlines()
