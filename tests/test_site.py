"""The site of docs/ builds without a warning, and what it generates is all that there is."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from console import PAGES, ROOT

import diagnose
from diagnose.casebase.store import Casebase
from diagnose.commands import COMMANDS


@pytest.fixture(scope="module")
def pages(casebase: Casebase) -> dict[str, str]:
    """The generated pages, by name."""
    spec = spec_from_file_location("generated", ROOT / "docs" / "generated.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.pages())


def test_every_command_cause_and_rule_has_its_place(
    pages: dict[str, str], casebase: Casebase
) -> None:
    assert {f"## diagnose {name}\n" for name in COMMANDS} <= set(
        re.findall(r"^## diagnose \w+\n", pages["commands"], re.MULTILINE)
    )
    assert "### diagnose kb evaluate\n" in pages["commands"]
    for name, cause in casebase.causes.items():
        section = pages["causes"].split(f"## {name}\n")[1].split("\n## ")[0]
        assert cause.example.rstrip() in section
        assert all(f"(`{fix.kind}`)" in section for fix in cause.fixes)
    assert re.findall(r"^\| \[`([\w-]+)`\]", pages["rules"], re.MULTILINE) == [
        rule.id for rule in casebase.checks()
    ]
    assert "## Diagnosis\n" in pages["openapi"]


def test_the_site_builds_without_a_warning(casebase_path: Path, tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "docs", "site"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(diagnose.__file__).parents[1]), "PATH": "/usr/bin:/bin"}
        | {"DIAGNOSE_CASEBASE": str(casebase_path)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "site" / "causes.html").is_file()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_the_pages_outside_link_to_what_is_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        assert target.startswith("https://") or (ROOT / target).exists(), target


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_files_that_a_page_names_are_there(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    folders = r"(?:src|kb|tests|benchmarks|training|scripts|docs)"
    for name in re.findall(rf"(?<![\w./<-])({folders}/[\w./-]*\w)(?![\w<*])", text):
        made = name.startswith(("kb/cases/out-head-walkthrough", "tests/train_smoke"))
        assert made or (ROOT / name).exists(), name
