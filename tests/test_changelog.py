"""The changelog is for people: it keeps its head, its versions in order, and every version that was there."""

import re
from pathlib import Path

import diagnose

LINES = (Path(__file__).parents[1] / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
#: What this file once lost in a commit that rewrote it.
LEAST = 290


def test_it_begins_with_its_head_and_holds_this_version() -> None:
    versions = [line.split()[1] for line in LINES if line.startswith("## ")]

    assert LINES[0] == "# Changelog"
    assert diagnose.__version__ in versions
    assert versions == sorted(versions, key=_numbers, reverse=True)


def test_nothing_of_it_is_lost() -> None:
    assert len(LINES) >= LEAST


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]
