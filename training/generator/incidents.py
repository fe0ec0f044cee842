"""The documented incidents as hosts: their mended halves, noted where the text alone tells what is what."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from random import Random

from diagnose._toml import loads

from .model import Host

CASES = Path(__file__).parents[2] / "kb" / "cases"
_FACTORIES = {
    "arange",
    "zeros",
    "ones",
    "full",
    "randn",
    "rand",
    "tensor",
    "eye",
    "linspace",
    "randint",
    "empty",
}
_MODELS = {"model", "net", "network", "encoder", "decoder", "generator", "unet", "vae"}


def hosts(rng: Random) -> Iterator[Host]:
    """Each incident whose program has a place for a mistake, in a random order."""
    folders = sorted(CASES.iterdir())
    rng.shuffle(folders)
    for folder in folders:
        text = (folder / "reproduce.py").read_text(encoding="utf-8")
        about = loads((folder / "case.toml").read_text(encoding="utf-8"))
        noted = _noted(text)
        if noted != text:
            package = next((one for one in about.get("libraries", ()) if one != "torch"), "torch")
            gpus = max(2, about.get("gpus", 1))
            yield Host(folder.name, noted, package, folder.name, "incident", (), gpus, ("fixed",))


def _noted(text: str) -> str:
    """A program with a note at each line where a mistake can be made."""
    rows = text.split("\n")
    tree = ast.parse(text)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in ast.walk(function):
                if isinstance(statement, ast.Assign | ast.Expr):
                    note = _note(statement, function.name)
                    if note and statement.lineno == statement.end_lineno:
                        at = statement.lineno - 1
                        if "  #: " not in rows[at]:
                            rows[at] += f"  #: {note}"
    return "\n".join(rows)


def _note(statement: ast.Assign | ast.Expr, function: str) -> str | None:
    target = ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
    value = statement.value
    if not isinstance(value, ast.Call):
        return None
    called = ast.unparse(value.func)
    keywords = {one.arg for one in value.keywords}
    last = called.rpartition(".")[2]
    if (
        last == "register_buffer"
        and len(value.args) > 1
        and isinstance(value.args[0], ast.Constant)
    ):
        return f"unregistered-tensor|attribute|self.{value.args[0].value}"
    if last in ("ModuleList", "ModuleDict") and target.startswith("self."):
        return f"unregistered-submodule|plain|{target}"
    if called == "torch.Generator" and "device" in keywords:
        return f"generator-device|nodevice|{target}"
    if called == "torch.load" and "map_location" in keywords:
        return f"checkpoint-location|nomap|{target}"
    if last == "numpy" and called.endswith(".cpu().numpy"):
        return f"host-copy-needed|nocpu|{called.split('.')[0]}"
    local = target.isidentifier() and function not in ("__init__", "main")
    if called.startswith("torch.") and last in _FACTORIES and "device" in keywords and local:
        return f"created-without-device|nodevice|{target}"
    if last in ("to", "cuda") and target in _MODELS and isinstance(value.func, ast.Attribute):
        built = value.func.value
        if isinstance(built, ast.Call) and ast.unparse(built.func)[:1].isupper():
            return f"module-not-moved|unmove|{target}"
    return None
