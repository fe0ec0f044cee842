"""CHANGELOG.md is whole, and no test writes to the files that git keeps: a page that was cut is still a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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


def test_no_line_of_it_was_lost() -> None:
    assert PAGE.count("\n") >= 290  # what it held when a change cut it to one
