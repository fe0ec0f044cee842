"""Mistakes in kb/ are named: file, key and reason."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from parsing.knowledge import KB

from diagnose.compiling.kberror import KbError
from diagnose.compiling.kbfiles import load_families, load_libraries, load_wordings

WORDING = """
[[wording]]
id = 'x'
exception = 'RuntimeError'
component = 'torch'
versions = 'any'
pattern = 'found (?P<found>@device)'
literals = ['found ']
"""


@pytest.fixture(autouse=True)
def words(tmp_path: Path) -> None:
    shutil.copy(KB / "words.toml", tmp_path)


def test_the_projects_own_files_are_whole() -> None:
    assert len(load_wordings(KB / "messages.toml")) > 255
    assert len(load_libraries(KB / "libraries.toml")) >= 120
    assert len({rule.family for rule in load_families(KB / "families.toml")}) >= 22


def test_a_device_is_spelled_once(tmp_path: Path) -> None:
    path = tmp_path / "messages.toml"
    path.write_text(WORDING)
    assert "@device" not in load_wordings(path)[0].pattern


@pytest.mark.parametrize(
    ("load", "text", "key"),
    [
        (load_wordings, WORDING + WORDING, "x"),
        (load_wordings, WORDING.replace("literals = ['found ']", ""), "x.literals"),
        (load_wordings, WORDING.replace("(?P<found>@device)", "(?P<found>"), "x"),
        (load_wordings, WORDING.replace("'any'", "3"), "x.versions"),
        (load_wordings, WORDING + "quotes = 'no'\n", "x.quotes"),
        (load_wordings, "wording = []", "wording"),
        (load_wordings, "= broken", "-"),
        (load_libraries, "[[library]]\nname = 'a'\nkind = 'model'\nmarks = 'a/b'\n", "a.marks"),
        (load_libraries, "[[library]]\nkind = 'model'\n", "?.name"),
        (load_families, "[[rule]]\nid = 'a'\n", "a.family"),
        (load_families, "[[rule]]\nid = 'a'\nfamily = 'crash'\npattern = 'x'\n", "a.literals"),
    ],
)
def test_mistakes_are_named(
    load: Callable[[Path], object], text: str, key: str, tmp_path: Path
) -> None:
    path = tmp_path / "file.toml"
    path.write_text(text)
    with pytest.raises(KbError) as caught:
        load(path)
    assert (caught.value.file, caught.value.key) == ("file.toml", key)
    assert caught.value.reason


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(KbError, match=r"none\.toml"):
        load_wordings(tmp_path / "none.toml")
