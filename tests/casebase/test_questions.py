"""Questions as people type them, by somebody who wrote neither the incidents nor the search, find their incident.

benchmarks/search_questions.py prints the figures; who improves the search does not read the questions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose._toml import loads
from diagnose.casebase.search import search
from diagnose.casebase.store import Casebase, load

QUESTIONS = loads(Path(__file__).with_name("questions.toml").read_text(encoding="utf-8"))[
    "question"
]


def test_half_of_the_questions_are_chinese_and_all_are_labelled(casebase: Casebase) -> None:
    languages = [one["language"] for one in QUESTIONS]
    assert len(QUESTIONS) >= 60
    assert languages.count("zh") == languages.count("en") == len(QUESTIONS) / 2
    assert not {one["incident"] for one in QUESTIONS} - set(casebase.incidents)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_most_questions_find_their_incident(
    lang: str, casebase: Casebase, casebase_path: Path
) -> None:
    both = [casebase, load(casebase_path, "zh")]
    asked = [one for one in QUESTIONS if one["language"] == lang]
    found = [[hit.id for hit in search(one["text"], both, top=3)] for one in asked]
    right = [one["incident"] for one in asked]
    first = sum(hits[:1] == [key] for hits, key in zip(found, right, strict=True))
    among = sum(key in hits for hits, key in zip(found, right, strict=True))
    assert first >= 0.75 * len(asked)
    assert among >= 0.85 * len(asked)
