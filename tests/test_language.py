"""README.md, CONTRIBUTING.md and docs/ are short, and in the field's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from console import PAGES

#: answers.md is written by a test.
PAGES = [path for path in PAGES if path.stem != "answers"]
UNWANTED = re.compile(
    r"(?<![\w-])(mend(s|ed|ing)?|births?|born|stands?|tells?|house|doors?|kin|by hand|in silence"
    r"|odd device|fault of diagnose)(?![\w-])",
    re.IGNORECASE,
)
MOST_WORDS = 25_000
LONGEST = 32


def prose(path: Path) -> Iterator[str]:
    """The paragraphs, items and cells of a page, without code and addresses."""
    page = re.sub(r"^ *```.*?^ *```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    page = re.sub(r"^( {4,}(?![*-]).*\n)+", "", page, flags=re.MULTILINE)
    page = re.sub(r"`[^`]*`", "code", page)
    page = re.sub(r"\]\([^)]*\)", "]", page)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[*#-]|\d+\.) )|\|", page):
        yield " ".join(block.split())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_reads_like_one_of_the_field(path: Path) -> None:
    for block in prose(path):
        found = UNWANTED.search(block)
        assert found is None, f"{found[0]!r}: {block}"
        for sentence in re.split(r"(?<=[.!?])\s", block):
            assert len(sentence.split()) <= LONGEST, sentence


def test_all_of_it_can_be_read() -> None:
    texts = [path.read_text(encoding="utf-8") for path in PAGES]
    assert sum(len(text.split()) for text in texts) <= MOST_WORDS
    assert len(texts[0].splitlines()) <= 60, "README is one screen"
