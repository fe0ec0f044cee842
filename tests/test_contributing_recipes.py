"""The recipes of CONTRIBUTING.md do what they say, each in a copy of the checkout: their files are
written, their commands run, and what they show is printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Recipes\n")[2]
RECIPES = dict(re.findall(r"^### (.+)\n((?:(?!### ).*\n)+)", PAGE, re.MULTILINE))
BLOCK = re.compile(r"^```(\w+)( fails)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"# (?P<file>[\w./-]+), (?:(?P<how>new|at the end)|below: (?P<line>.+))\n")
COMMAND = re.compile(r"^\$ (?P<command>.+)\n(?P<shown>(?:(?!\$ ).*\n)*)", re.MULTILINE)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with a compiled case base, of few incidents, and the commands of a virtual environment."""
    checkout = tmp_path_factory.mktemp("recipes") / "checkout"
    for folder in ("src", "kb", "tests"):
        shutil.copytree(ROOT / folder, checkout / folder, ignore=_not_needed)
    shutil.copy(ROOT / "pyproject.toml", checkout)
    (checkout / "bin").mkdir()
    for name in ("diagnose", "pytest"):
        command = checkout / "bin" / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {name} "$@"\n')
        command.chmod(0o755)
    _run(checkout, "diagnose cases build")
    return checkout


def _not_needed(folder: str, names: list[str]) -> set[str]:
    if Path(folder) == ROOT / "kb/cases":
        return set(sorted(names)[3:])
    built = {name for name in names if name.endswith((".sqlite", "__pycache__"))}
    return built | ({"traces", "fuzz"} & set(names) if Path(folder) == ROOT / "tests" else set())


def _run(checkout: Path, command: str, status: int = 0) -> str:
    """What a command prints that ends with this status."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DIAGNOSE_", "PYTEST_"))}
    kept.pop("COLUMNS", None)
    done = subprocess.run(
        ["sh", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        cwd=checkout,
        env={
            **kept,
            "PATH": f"{checkout / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(checkout / "src"),
        },
    )
    assert done.returncode == status, f"$ {command}\n{done.stdout}"
    return done.stdout


def _write(checkout: Path, block: str) -> None:
    """Puts a block where its first line says."""
    place = PLACE.match(block)
    assert place, f"the block names no file:\n{block}"
    path, text = checkout / place["file"], block[place.end() :]
    if place["how"] == "new":
        assert not path.exists(), f"{place['file']} is there already"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    stands = path.read_text(encoding="utf-8")
    if place["line"]:
        above = f"\n{place['line']}\n"
        assert stands.count(above) == 1, f"{place['file']} has not one line: {place['line']}"
        path.write_text(stands.replace(above, above + text), encoding="utf-8")
    else:
        path.write_text(stands + text, encoding="utf-8")


def _shown(line: str) -> re.Pattern[str]:
    """A line of the page, with `...` for anything and blanks as they come."""
    parts = (r"\s+".join(map(re.escape, part.split())) for part in line.split("..."))
    return re.compile(r"\s*" + r".*".join(rf"\s*{part}\s*" for part in parts))


def _missing(output: str, shown: str) -> Iterator[str]:
    """The lines that a page shows and the output lacks, or has in another order."""
    left = iter(output.splitlines())
    for line in shown.splitlines():
        if not any(_shown(line).fullmatch(printed) for printed in left):
            yield line


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_does_what_it_says(title: str, made: Path, tmp_path: Path) -> None:
    checkout = shutil.copytree(made, tmp_path / "checkout")
    for language, fails, block in BLOCK.findall(RECIPES[title]):
        if language != "console":
            _write(checkout, block)
            continue
        for command in COMMAND.finditer(block):
            output = _run(checkout, command["command"], status=1 if fails else 0)
            missing = list(_missing(output, command["shown"]))
            assert not missing, f"$ {command['command']}\n{output}\nshows no {missing}"


def test_every_row_of_the_table_leads_to_a_recipe() -> None:
    anchors = re.findall(r"^\| .* \[.*\]\(#(.+)\) \|", PAGE, re.MULTILINE)
    assert anchors == [title.lower().replace(" ", "-") for title in RECIPES]
    for body in RECIPES.values():
        assert BLOCK.findall(body)[-1][0] == "console", "a recipe ends with what comes of it"
