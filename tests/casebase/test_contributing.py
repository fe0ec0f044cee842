"""docs/contributing-a-case.md does what it says: its commands are run, with its two files."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import forked
import pytest
from click.testing import CliRunner

from diagnose.casebase.store import load
from diagnose.commands.doors import doors

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/contributing-a-case.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)( fails)?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_walk_through_ends_green(
    tmp_path: Path, few: Path, few_compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    shutil.copytree(few, tmp_path / "kb")
    compiled = shutil.copyfile(few_compiled, tmp_path / "casebase.sqlite")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", forked.python())
    monkeypatch.delenv("DIAGNOSE_LANG", raising=False)
    monkeypatch.setenv("DIAGNOSE_CASEBASE", str(compiled))
    load.cache_clear()
    files = {"toml": "case.toml", "python": "reproduce.py"}
    outputs = {}
    try:
        for language, fails, text in BLOCKS:
            if language in files:
                path = tmp_path / "kb/cases/out-head-walkthrough" / files[language]
                assert path.is_file(), "written before it was drafted"
                path.write_text(text, encoding="utf-8")
                continue
            for command in text.splitlines():
                arguments = shlex.split(command)
                assert arguments.pop(0) == "diagnose"
                done = CliRunner().invoke(doors, arguments)
                assert (done.exit_code == 1) == bool(fails), f"{command}\n{done.output}"
                assert done.exit_code in (0, 1), f"{command}\n{done.output}"
                outputs[command] = done.output
                load.cache_clear()
    finally:
        load.cache_clear()
    proven = outputs["diagnose kb check --run out-head-walkthrough"]
    # Two columns are a measure of the ranking, which changes with facts and weights.
    row = re.compile(r"^ *(submodule-added-after-move .*1/1) +\d/1 +\d/1( +0/1)$", re.MULTILINE)
    printed, shown = row.search(proven), row.search(PAGE)
    assert printed and shown and printed.groups() == shown.groups(), proven
    last = list(outputs.values())[-1]
    assert "out-head-walkthrough" in last


def test_the_page_leaves_no_command_untried() -> None:
    tried = "".join(text for language, _, text in BLOCKS if language == "sh")
    for command in (
        "kb new --from",
        "kb check ",
        "run --simulate",
        "--run",
        "kb build",
        "explain",
    ):
        assert command in tried
