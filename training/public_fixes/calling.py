"""Finds out how a changed function can be run: programs that import its file and call it, or what holds it,
with inputs that parameters' names tell. Each has been run once, on the cpu.

What is run is other people's code: use it where a process may do no harm.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from generator.find import arguments, told
from generator.probing import at_most, quiet
from generator.tables import read

from diagnose._toml import loads

_SECONDS = 10
#: Calls of one function or class that are tried, and programs that are given back, at most.
_TRIED, _MOST = 60, 4
_INPUTS = loads((Path(__file__).parent / "inputs.toml").read_text(encoding="utf-8"))
#: Packages that a file may lack.
_MISSING = 12

#: What a parameter of a type is given.
_OF_TYPES = {
    "int": "2",
    "float": "0.5",
    "bool": "True",
    "torch.dtype": "torch.float32",
    "torch.size": "torch.Size([4, 16])",
    **dict.fromkeys(("tuple[int, int]", "list[int]"), "(16, 16)"),
    **dict.fromkeys(("tuple[float, float]", "list[float]"), "(0.5, 0.5)"),
}

HEAD = "import torch\n{stand_ins}from {module} import {name}\n\ntorch.manual_seed(0)\n"
TAIL = """
leaves = torch.utils._pytree.tree_leaves(result)
numbers = [one.detach().double() for one in leaves if torch.is_tensor(one) and not one.is_complex()]
print([round(float(one.sum()), 4) for one in numbers])
"""


class Target(NamedTuple):
    """Something of a module to call: a function, or a method of what a class makes."""

    name: str
    method: str


def targets(text: str, line: int) -> list[Target]:
    """What to call so that a line of a file runs: what holds it first, then what names that."""
    tree = ast.parse(text)
    held: list[ast.FunctionDef | ast.ClassDef] = [
        one
        for one in tree.body
        if isinstance(one, ast.FunctionDef | ast.ClassDef)
        and one.lineno <= line <= (one.end_lineno or 0)
    ]
    found = list[Target]()
    for one in held:
        if isinstance(one, ast.FunctionDef):
            found.append(Target(one.name, ""))
        else:
            found += [Target(one.name, method) for method in ("forward", *_methods(one, line))]
    names = {one.name for one in held}
    for other in tree.body:
        if isinstance(other, ast.FunctionDef | ast.ClassDef) and other not in held:
            used = {one.id for one in ast.walk(other) if isinstance(one, ast.Name)}
            if used & names:
                found.append(
                    Target(other.name, "forward" if isinstance(other, ast.ClassDef) else "")
                )
    return list(dict.fromkeys(found))


def _methods(made: ast.ClassDef, line: int) -> list[str]:
    """The method that holds the line, unless it is called anyway."""
    return [
        one.name
        for one in made.body
        if isinstance(one, ast.FunctionDef)
        and one.lineno <= line <= (one.end_lineno or 0)
        and not one.name.startswith("__")
        and one.name != "forward"
    ]


def programs(root: Path, module: str, wanted: list[Target]) -> Iterator[str]:
    """Programs for a GPU that call one of them, of which the same has run on the cpu."""
    sys.path.insert(0, str(root))
    file, needed = _imported(module)
    given = 0
    for target in wanted:
        value = getattr(file, target.name, None)
        if value is None or not callable(value):
            continue
        for lines in _calls(target, value):
            if _runs(lines, {"torch": torch, target.name: value}):
                head = HEAD.format(stand_ins=needed, module=module, name=target.name)
                yield head + "\n".join(_on_gpu(lines)) + TAIL
                given += 1
                break
        if given == _MOST:
            return


def _imported(module: str) -> tuple[types.ModuleType, str]:
    """A module, and the lines that its import needs: stand-ins for what is not installed."""
    missing: list[str] = []
    before = set(sys.modules)
    for _ in range(_MISSING):
        try:
            with quiet(), at_most(60):
                file = importlib.import_module(module)
        except Exception as error:
            name = (getattr(error, "name", None) or "").partition(".")[0]
            if isinstance(error, ModuleNotFoundError) and name not in (
                "",
                module.partition(".")[0],
            ):
                missing.append(name)
            elif isinstance(error, ModuleNotFoundError) and getattr(error, "name", None):
                missing.append(error.name)  # a part that is written when it is built
            elif "stand_ins" in sys.modules:
                raise
            stand_ins = importlib.import_module("stand_ins")
            stand_ins.stand_in(*missing[-1:])
            for one in set(sys.modules) - before - {"stand_ins"}:
                if one.partition(".")[0] == module.partition(".")[0]:
                    del sys.modules[one]
            continue
        if "stand_ins" not in sys.modules:
            return file, ""
        return file, f"import stand_ins\n\nstand_ins.stand_in({', '.join(map(repr, missing))})\n"
    raise ImportError(module)


def _runs(lines: list[str], names: dict[str, Any]) -> bool:
    try:
        with quiet(), at_most(_SECONDS):
            torch.manual_seed(0)
            exec("\n".join(lines), names)
    except BaseException as error:  # code of others may exit
        if isinstance(error, KeyboardInterrupt):
            raise
        return False
    leaves = torch.utils._pytree.tree_leaves(names["result"])
    return any(isinstance(one, torch.Tensor) for one in leaves)


def _calls(target: Target, value: Any) -> Iterator[list[str]]:
    """Ways to call it, as lines that make what it needs and leave ``result``."""
    patterns = [["device|dev", "'cpu'", "'cpu'"], *read("pieces/finding.toml")["given"]["patterns"]]
    made = inspect.isclass(value)
    parts = [*patterns, *_INPUTS["made"]]
    makings = _makings(target, value, parts) if made else iter([("", value)])
    tried = 0
    for making, function in makings:
        for lines, call in _inputs(function, patterns, bound=bool(making)):
            called = target.name if not making else "model"
            if making and target.method not in ("", "forward"):
                called += f".{target.method}"
            made = [f"model = {making}"] if making else []
            yield [*made, *lines, f"result = {called}({call})"]
            tried += 1
            if tried == _TRIED:
                return


def _makings(
    target: Target, made: type, patterns: list[list[str]]
) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Ways to make one of a class, with the function that is called of it."""
    function = getattr(made, target.method or "forward", None) or vars(made).get("__call__")
    if function is None:
        return
    for given in arguments(made, patterns):
        built = f"{target.name}({given})"
        with contextlib.suppress(Exception), quiet(), at_most(_SECONDS):
            eval(built, {"torch": torch, target.name: made})
            yield built, function


def _inputs(
    function: Callable[..., Any], patterns: list[list[str]], *, bound: bool
) -> Iterator[tuple[list[str], str]]:
    """Ways to fill a function's parameters: those whose names tell a number, and tensors for the others."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[1 if bound else 0 :]
    except (TypeError, ValueError):
        return
    needed = [
        one
        for one in parameters
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    known = {one.name: value for one in needed if (value := _given(one, patterns))}
    tensors = [one.name for one in needed if one.name not in known]
    parts = [f"{one.name}={known.get(one.name, one.name)}" for one in needed]
    for makes in _tensors(tensors):
        lines = [f"{name} = {make}" for name, make in zip(tensors, makes, strict=True)]
        yield lines, ", ".join(parts)


def _tensors(names: list[str]) -> Iterator[list[str]]:
    """Ways to make tensors of these names: as the names tell, then any that are so many."""
    known = _INPUTS["named"]
    rows = [next((row[1:] for row in known if re.fullmatch(row[0], name)), None) for name in names]
    if any(rows):
        for given in range(4):
            for other in _INPUTS["others"] if None in rows else [""]:
                yield [row[given] if row else other for row in rows]
    for column in read("pieces/finding.toml")["called"]["with"]:
        if len(column) == len(names):
            yield [make.replace("$n", "4") for make in column]


def _given(parameter: inspect.Parameter, patterns: list[list[str]]) -> str | None:
    """What a parameter is given that is no tensor, by its name or its type."""
    if (value := told(patterns, parameter.name)) is not None:
        return value
    kind = getattr(parameter.annotation, "__name__", str(parameter.annotation)).replace(
        "typing.", ""
    )
    return _OF_TYPES.get(kind.lower().removeprefix("'").removesuffix("'"))


def _on_gpu(lines: list[str]) -> list[str]:
    """The lines with what they make moved to the GPU."""
    moved = []
    for line in lines:
        line = re.sub(r"\b(device|dev)='cpu'", r"\1='cuda'", line)
        name, _, value = line.partition(" = ")
        if name != "result" and not (name == "model" and "'cuda'" in value):
            moves = value if value == "None" else f"{value}.to('cuda')"
            line = f"{name} = {moves}" if name != "model" else _moved_model(value)
        moved.append(line)
    return moved


def _moved_model(value: str) -> str:
    return f"model = {value}\nif isinstance(model, torch.nn.Module):\n    model = model.to('cuda')"
