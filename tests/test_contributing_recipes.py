"""The recipes of CONTRIBUTING.md do what they say, each in a copy of the checkout: their files are
written, their commands run, and what they show is printed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from console import BLOCK, COMMAND, commands, missing, run, write

pytest.importorskip("torch")

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Recipes\n")[2]
RECIPES = dict(re.findall(r"^### (.+)\n((?:(?!### ).*\n)+)", PAGE, re.MULTILINE))
#: What a changed kb/ needs.
CHECKED = ("diagnose kb check", "diagnose kb build")
OF_KB = [title for title, text in RECIPES.items() if f"$ {CHECKED[0]}\n" in text]


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


def _followed(title: str, folder: Path, checkout: Path) -> Iterator[tuple[str, str]]:
    """Does what a recipe says; what checks and builds a changed kb/, and what that shows, is left to the caller."""
    for language, fails, block in BLOCK.findall(RECIPES[title]):
        if language != "console":
            write(folder, block)
            continue
        for command in COMMAND.finditer(block):
            if command["command"] in CHECKED:
                yield command["command"], command["shown"]
            else:
                _shows(folder, checkout, command["command"], command["shown"], 1 if fails else 0)


def _shows(folder: Path, checkout: Path, command: str, shown: str, status: int = 0) -> None:
    compiled = str(checkout / "src/diagnose/casebase.sqlite")  # spares each pytest to build its own
    output = run(folder, command, checkout / "bin", checkout / "src", status, COMPILED=compiled)
    lacks = list(missing(output, shown))
    assert not lacks, f"$ {command}\n{output}\nshows no {lacks}"


@pytest.mark.parametrize("title", [title for title in RECIPES if title not in OF_KB])
def test_a_recipe_does_what_it_says(title: str, made: Path, tmp_path: Path) -> None:
    checkout = shutil.copytree(made, tmp_path / "checkout")
    assert list(_followed(title, checkout, checkout)) == []


def test_recipes_of_kb_do_what_they_say(made: Path, tmp_path: Path) -> None:
    """Each in a folder of its own, with one kb/ that is checked and built once."""
    checkout = shutil.copytree(made, tmp_path / "checkout")
    going = []
    for title in OF_KB:
        folder = tmp_path / title
        folder.mkdir()
        for path in checkout.iterdir():
            (folder / path.name).symlink_to(path)
        going.append(_followed(title, folder, checkout))
    for command in CHECKED:
        (shown,) = {next(recipe) for recipe in going}
        _shows(checkout, checkout, *shown)
        assert shown[0] == command
    for recipe in going:
        assert list(recipe) == []


def test_every_row_of_the_table_leads_to_a_recipe() -> None:
    anchors = re.findall(r"^\| .* \[.*\]\(#(.+)\) \|", PAGE, re.MULTILINE)
    assert anchors == [title.lower().replace(" ", "-") for title in RECIPES]
    for body in RECIPES.values():
        assert BLOCK.findall(body)[-1][0] == "console", "a recipe ends with what comes of it"
