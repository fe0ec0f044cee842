"""docs/what-to-type.md: its commands run and print what it shows; docs/answers.md: its answers are what is said
of the project's own traces (renew with --renew and read the difference)."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from console import BLOCK, COMMAND, commands, missing, run, write

import diagnose
from diagnose.casebase.store import Casebase
from diagnose.pipeline import diagnose as answer
from diagnose.rendering import text
from diagnose.sources import per_report

ROOT = Path(__file__).parents[1]
TRACES = ROOT / "tests" / "traces"
PAGE = (ROOT / "docs" / "what-to-type.md").read_text(encoding="utf-8")
ANSWERS = ROOT / "docs" / "answers.md"
_FIRST = "<!-- from here on written by tests/test_pages_of_docs.py -->\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the reader of the page has: a traceback, a log, logs."""
    made = tmp_path_factory.mktemp("page")
    trace = TRACES / "easyedit-memit-delta.txt"
    other = TRACES / "causes" / "sensor-vae-noise.txt"
    (made / "runs").mkdir()
    names = ("traceback.txt", "train.log", "runs/1.log", "runs/2.log")
    for name, source in (*((name, trace) for name in names), ("runs/3.log", other)):
        shutil.copy(source, made / name)
    return made


def test_every_command_prints_what_the_page_shows(
    folder: Path, casebase_path: Path, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    bin, source = commands(tmp_path / "bin", "diagnose"), Path(diagnose.__file__).parents[1]
    ran = 0
    for language, fails, block in BLOCK.findall(PAGE):
        if language == "python":
            write(folder, block)
        for found in COMMAND.finditer(block) if language == "console" else ():
            output = run(
                folder,
                found["command"],
                bin,
                source,
                1 if fails else 0,
                DIAGNOSE_CASEBASE=str(casebase_path),
            )
            lacks = list(missing(output, found["shown"]))
            assert not lacks, f"$ {found['command']}\n{output}\nshows no {lacks}"
            ran += 1
    assert ran > 10


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(shell: str, casebase_path: Path, tmp_path: Path) -> None:
    bin, source = commands(tmp_path / "bin", "diagnose"), Path(diagnose.__file__).parents[1]
    assert f"_DIAGNOSE_COMPLETE={shell}_source diagnose" in PAGE
    told = run(tmp_path, "diagnose", bin, source, _DIAGNOSE_COMPLETE=f"{shell}_source")
    assert "_DIAGNOSE_COMPLETE" in told


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("diagnose ex", "explain"),
        ("diagnose explain cross-sh", "cross-shard-op"),
        ("diagnose verify rank-d", "rank-device"),
        ("diagnose train.log --fo", "--format"),
        ("diagnose --fu", "--full"),
        ("diagnose simulate --gp", "--gpus"),
    ],
)
def test_a_word_is_completed(typed: str, offered: str, casebase_path: Path, tmp_path: Path) -> None:
    bin, source = commands(tmp_path / "bin", "diagnose"), Path(diagnose.__file__).parents[1]
    shell = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    told = run(
        tmp_path,
        "diagnose < /dev/null",
        bin,
        source,
        _DIAGNOSE_COMPLETE="bash_complete",
        DIAGNOSE_CASEBASE=str(casebase_path),
        **shell,
    )
    assert f"plain,{offered}" in told.splitlines()


def quoted(names: list[str], casebase: Casebase) -> str:
    """The answers to traces, with their programs at hand, as a page shows them."""
    sources = per_report((str(TRACES / "programs"),))
    blocks = []
    for name in names:
        path = next(TRACES.glob(f"**/{name}.txt"))
        told = answer(path.read_bytes(), path.name, casebase=casebase, sources=sources())
        blocks.append(f"## {name}\n\n```\n{text.render(told)}```\n")
    return "\n".join(blocks)


def test_the_answers_are_those_that_are_given(casebase: Casebase, renew: bool) -> None:
    page = ANSWERS.read_text(encoding="utf-8")
    head, _, shown = page.partition(_FIRST)
    made = "\n" + quoted(re.findall(r"^## (.+)$", shown, re.MULTILINE), casebase)
    if renew:
        ANSWERS.write_text(head + _FIRST + made, encoding="utf-8")
        shown = made
    assert shown == made
    assert made.count("```\n\n## ") == 19
