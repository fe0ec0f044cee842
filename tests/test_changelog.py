"""CHANGELOG.md has a section for each version, changes/ what comes next, and no test writes to files that git keeps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from diagnose._toml import loads
from diagnose.versions import version

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_page_has_its_head_and_a_heading_for_each_version_newest_first() -> None:
    assert PAGE.startswith("# Changelog\n")
    titles = re.findall(r"^## (\S+)", PAGE, re.MULTILINE)
    current = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert current and titles[0] == current[1]
    assert titles == sorted(set(titles), key=version, reverse=True)


@pytest.mark.parametrize("section", re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:])
def test_each_version_says_in_items_what_changed(section: str) -> None:
    assert "\n- " in section


def test_what_was_noted_stays() -> None:
    assert PAGE.partition("### In detail")[2].count("\n- ") > 100


def test_no_test_writes_to_a_file_that_git_keeps(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("")
    with pytest.raises(PermissionError, match=r"CHANGELOG\.md"):
        (ROOT / "CHANGELOG.md").open("a")
    with pytest.raises(PermissionError, match=r"CHANGELOG\.md"):
        (ROOT / "CHANGELOG.md").unlink()
    with pytest.raises(PermissionError, match=r"CHANGELOG\.md"):
        other.replace(ROOT / "CHANGELOG.md")
    assert (ROOT / "CHANGELOG.md").read_text(encoding="utf-8") == PAGE


def test_each_fragment_is_one_that_towncrier_takes() -> None:
    settings = loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    types = {one["directory"] for one in settings["type"]}
    assert (ROOT / settings["filename"]).read_text(encoding="utf-8") == PAGE
    assert "\n<!-- towncrier release notes start -->\n" in PAGE
    for path in (ROOT / settings["directory"]).iterdir():
        if path.name not in settings["ignore"]:
            name = re.fullmatch(r"[a-z0-9-]+\.(?P<type>[a-z]+)\.md", path.name)
            assert name and name["type"] in types, path.name
            text = path.read_text(encoding="utf-8").strip()
            assert text.endswith(".") and "\n" not in text, path.name
