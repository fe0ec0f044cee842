"""The recipes of CONTRIBUTING.md do what they say, each in a copy of the checkout: their files are
written, their commands run, and what they show is printed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from console import BLOCK, COMMAND, commands, missing, run, write

pytest.importorskip("torch")

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Recipes\n")[2]
RECIPES = dict(re.findall(r"^### (.+)\n((?:(?!### ).*\n)+)", PAGE, re.MULTILINE))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, few: Path, few_compiled: Path) -> Path:
    """A checkout with a compiled case base, of few incidents, and the commands of a virtual environment."""
    checkout = tmp_path_factory.mktemp("recipes") / "checkout"
    for folder in (ROOT / "src", ROOT / "tests", few):
        shutil.copytree(folder, checkout / folder.name, ignore=_not_needed)
    (checkout / few.name).rename(checkout / "kb")
    shutil.copyfile(few_compiled, checkout / "src/diagnose/casebase.sqlite")
    shutil.copy(ROOT / "pyproject.toml", checkout)
    commands(checkout / "bin", "diagnose", "pytest")
    return checkout


def _not_needed(folder: str, names: list[str]) -> set[str]:
    # Bytecode stays: each command of each copy would compile it anew.
    built = {name for name in names if name.endswith(".sqlite")}
    return built | ({"traces", "fuzz"} & set(names) if Path(folder) == ROOT / "tests" else set())


def _run(checkout: Path, command: str, status: int = 0) -> str:
    return run(checkout, command, checkout / "bin", checkout / "src", status)


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_does_what_it_says(title: str, made: Path, tmp_path: Path) -> None:
    checkout = shutil.copytree(made, tmp_path / "checkout")
    for language, fails, block in BLOCK.findall(RECIPES[title]):
        if language != "console":
            write(checkout, block)
            continue
        for command in COMMAND.finditer(block):
            output = _run(checkout, command["command"], status=1 if fails else 0)
            lacks = list(missing(output, command["shown"]))
            assert not lacks, f"$ {command['command']}\n{output}\nshows no {lacks}"


def test_every_row_of_the_table_leads_to_a_recipe() -> None:
    anchors = re.findall(r"^\| .* \[.*\]\(#(.+)\) \|", PAGE, re.MULTILINE)
    assert anchors == [title.lower().replace(" ", "-") for title in RECIPES]
    for body in RECIPES.values():
        assert BLOCK.findall(body)[-1][0] == "console", "a recipe ends with what comes of it"
