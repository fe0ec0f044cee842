"""docs/answers.md: its answers are what is said of the project's own traces (renew with --renew and read the
difference)."""

from __future__ import annotations

import re
from pathlib import Path

from diagnose.casebase.store import Casebase
from diagnose.pipeline import diagnose as answer
from diagnose.rendering import text
from diagnose.sources import per_report

TRACES = Path(__file__).parent / "traces"
ANSWERS = Path(__file__).parents[1] / "docs" / "answers.md"
_FIRST = "<!-- from here on written by tests/test_answers_of_docs.py -->\n"


def quoted(names: list[str], casebase: Casebase) -> str:
    """The answers to traces, with their programs at hand, as a page shows them."""
    sources = per_report((str(TRACES / "programs"),))
    blocks = []
    for name in names:
        path = next(TRACES.glob(f"**/{name}.txt"))
        told = answer(path.read_bytes(), path.name, casebase=casebase, sources=sources())
        blocks.append(f"## {name}\n\n```text\n{text.render(told)}```\n")
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
