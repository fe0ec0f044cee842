"""The root causes: every page is whole, and every example really fails and really is mended."""

from __future__ import annotations

import ast
import re
import sys
import traceback
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from parsing.knowledge import parse as read

from diagnose._toml import loads
from diagnose.model import DEVICE_FAMILY

KB = Path(__file__).parents[2] / "kb"
CAUSES = sorted(path.stem for path in (KB / "causes").glob("*.toml"))
FIXES = loads((KB / "fixes.toml").read_text(encoding="utf-8"))

each_cause = pytest.mark.parametrize("cause", CAUSES)


def page(cause: str) -> dict[str, Any]:
    return loads((KB / "causes" / f"{cause}.toml").read_text(encoding="utf-8"))


def program(cause: str) -> ModuleType:
    """A fresh import of the example, so that no test sees what another one left in it."""
    spec = spec_from_file_location("example", KB / "causes" / f"{cause}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def failure_of(function: Callable[[list[str]], object], devices: list[str]) -> str | None:
    """What Python would print of the function's failure; None where it returns."""
    try:
        function(devices)
    except Exception:
        return traceback.format_exc()
    return None


@pytest.fixture(params=["new", "old"])
def simulated(request: pytest.FixtureRequest) -> Callable[[int], Any]:
    """Simulated GPUs, in torch's present wording and in that of before 2.8."""
    pytest.importorskip("torch")
    from diagnose.simulation import simulated_gpus

    return lambda count: simulated_gpus(count, wording=request.param)


def on_simulated_gpus(cause: str, variant: str, simulated: Callable[[int], Any]) -> str | None:
    told = page(cause)
    if not told.get("simulated", True):
        pytest.skip(told["reason"])
    with simulated(told["gpus"]):
        devices = [f"cuda:{index}" for index in range(told["gpus"])]
        return failure_of(getattr(program(cause), variant), devices)


@each_cause
def test_the_mistake_dies_of_a_device_error(cause: str, simulated: Callable[[int], Any]) -> None:
    printed = on_simulated_gpus(cause, "mistake", simulated)
    assert printed is not None, "the mistake ran to its end"
    report = read(printed)
    assert report.error is not None
    assert report.error.family == DEVICE_FAMILY, report.error.message
    assert f"{cause}.py" in {Path(frame.file).name for frame in report.frames}


@each_cause
def test_the_fix_runs_to_its_end(cause: str, simulated: Callable[[int], Any]) -> None:
    printed = on_simulated_gpus(cause, "fixed", simulated)
    assert printed is None, printed


@each_cause
@pytest.mark.parametrize("variant", ["mistake", "fixed"])
def test_the_example_does_the_same_on_real_gpus(cause: str, variant: str) -> None:
    torch = pytest.importorskip("torch")
    needed = page(cause)["gpus"]
    if torch.cuda.device_count() < needed:
        pytest.skip(f"needs {needed} GPUs")
    printed = failure_of(
        getattr(program(cause), variant), [f"cuda:{index}" for index in range(needed)]
    )
    if variant == "fixed":
        assert printed is None, printed
    else:
        assert printed is not None, "the mistake ran to its end"
        report = read(printed)
        assert report.error is not None
        assert report.error.family == DEVICE_FAMILY, report.error.message


@each_cause
def test_importing_an_example_runs_nothing_and_needs_torch_only(cause: str) -> None:
    tree = ast.parse((KB / "causes" / f"{cause}.py").read_text(encoding="utf-8"))
    allowed = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)
    docstring, *rest = tree.body
    assert isinstance(docstring, ast.Expr) and ast.get_docstring(tree)
    assert all(isinstance(node, allowed) for node in rest)
    for constant in (node for node in rest if isinstance(node, ast.Assign)):
        ast.literal_eval(constant.value)
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else _names(node))
    }
    assert imported - sys.stdlib_module_names == {"torch"}
    told = [node for node in rest if isinstance(node, ast.FunctionDef)]
    assert all(ast.get_docstring(node) for node in told if node.name in {"mistake", "fixed"})


def _names(node: ast.Import) -> list[str]:
    return [alias.name for alias in node.names]


@each_cause
def test_the_page_is_whole_in_both_languages(cause: str) -> None:
    told = page(cause)
    english, chinese = told["en"], told["zh"]
    assert len(english["title"]) <= 60
    assert not english["title"].endswith(".")
    for key in ("title", "why", "tell"):
        assert english[key].isascii(), key
        assert re.search(r"[\u4e00-\u9fff]", chinese[key]), key
        assert "  " not in english[key] + chinese[key], "two blanks at a line's join"
    assert told["gpus"] in {1, 2}
    neighbours = told["rather"]
    assert cause not in neighbours and set(neighbours) <= set(CAUSES)
    for sentence in neighbours.values():
        assert sentence["en"].startswith("More likely if ")
        assert sentence["zh"].endswith("更可能是这一条。")


@each_cause
def test_every_fix_shows_what_to_change(cause: str) -> None:
    fixes = page(cause)["fixes"]
    kinds = [fix["kind"] for fix in fixes]
    always = [fix["kind"] for fix in fixes if "first_with" not in fix]
    assert 3 <= len(always) <= 6 and len(kinds) <= 8 and len(set(kinds)) == len(kinds)
    assert set(kinds) <= set(FIXES)
    for fix in fixes:
        if "command" in fix:
            assert "before" not in fix and "after" not in fix
        else:
            before, after = fix["before"].strip(), fix["after"].strip()
            assert before != after
            ast.parse(before), ast.parse(after)


def test_the_shares_of_the_causes_make_a_whole() -> None:
    assert sum(page(cause)["prior"] for cause in CAUSES) == pytest.approx(1, abs=0.02)


def test_every_kind_of_fix_has_a_sentence_in_both_languages() -> None:
    for kind, sentence in FIXES.items():
        assert sentence["en"].isascii() and sentence["en"].endswith("."), kind
        assert re.search(r"[\u4e00-\u9fff]", sentence["zh"]), kind
