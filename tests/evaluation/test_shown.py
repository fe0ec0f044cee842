"""What is printed and drawn, letter by letter, and that nothing in a report can steer it.

Renew the golden files with ``python -m pytest tests/evaluation --renew`` and read the difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from evaluation.samples import BEFORE, MADE, RUN, outcome
from hypothesis import given
from hypothesis import strategies as st

from diagnose.evaluation import layout
from diagnose.evaluation.comparison import compare
from diagnose.evaluation.formulas import Bin
from diagnose.evaluation.plot import svg
from diagnose.evaluation.runs import Outcome
from diagnose.evaluation.sections import Section, sections
from diagnose.evaluation.summary import summarize
from diagnose.rendering.words import width

GOLDEN = Path(__file__).parent / "golden"
FAILED = outcome("mine/broken", "rank-device", values={"answered": 0}, problem="KeyError: 'x'")
RUNS: dict[str, list[Section]] = {
    "run": list(sections(MADE, summarize(RUN), RUN)),
    "compared": list(
        sections(
            MADE,
            summarize((*RUN, FAILED)),
            (*RUN, FAILED),
            compare(MADE, BEFORE, RUN),
            misses=True,
        )
    ),
    "perfect": list(sections(MADE, summarize(RUN[:1]), RUN[:1], misses=True)),
}


def golden(name: str, shown: str, renew: bool) -> None:
    path = GOLDEN / name
    if renew:
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RUNS)
def test_text(name: str, renew: bool) -> None:
    golden(f"{name}.txt", layout.text(RUNS[name]), renew)


@pytest.mark.parametrize("name", RUNS)
def test_markdown(name: str, renew: bool) -> None:
    golden(f"{name}.md", layout.markdown(RUNS[name]), renew)


def test_plot(renew: bool) -> None:
    golden("calibration.svg", svg(summarize(RUN).bins, "Calibration <of> mine"), renew)


@pytest.mark.parametrize("name", RUNS)
def test_lines_fit(name: str) -> None:
    for line in layout.text(RUNS[name]).splitlines():
        assert width(line) <= 80
        assert line == line.rstrip()


def test_a_matrix_of_many_causes_is_printed_in_parts_that_fit() -> None:
    causes = [f"cause-{n:020}" for n in range(30)]
    run = tuple(
        outcome(f"mine/{n}", one, (other, 0.5)) for n, (one, other) in enumerate(pairwise(causes))
    )
    shown = list(sections(MADE, summarize(run), run))
    parts = [section for section in shown if "columns" in section.title]
    assert [len(part.heads) - 2 for part in parts] == [12, 12, 6]
    assert all(width(line) <= 80 for line in layout.text(parts).splitlines())
    counted = sum(
        int(cell) for part in parts for row in part.rows for cell in row[2:] if cell != "."
    )
    assert counted == 29


def hostile(value: str) -> tuple[list[Section], tuple[Outcome, ...]]:
    run = (
        outcome(value, "rank-device", (value, 0.5), values={"op": 0}, problem=None),
        outcome(f"{value}2", value, values={"answered": 0}, problem=value),
    )
    before = tuple(replace(one, causes=(("index-device", 0.1),), scores=()) for one in run)
    return list(sections(MADE, summarize(run), run, compare(MADE, before, run), misses=True)), run


@given(st.text(st.characters(), min_size=1, max_size=40))
def test_control_characters_never_reach_a_terminal(value: str) -> None:
    shown, _ = hostile(value)
    for render in (layout.text, layout.markdown):
        assert all(c.isprintable() for c in render(shown).replace("\n", ""))


@given(st.text("`~<>&|*_[]()!#\\ ab\n", min_size=1, max_size=40))
def test_markdown_cells_open_no_tag_and_break_no_row(value: str) -> None:
    shown, _ = hostile(value)
    heads = 0
    for line in layout.markdown(shown).splitlines():
        bare = re.sub(r"\\.", "", line)
        assert "<" not in bare
        assert "`" not in bare
        heads = bare.count("|") if heads == 0 else heads
        if not bare.startswith("|"):
            heads = 0
        assert bare.count("|") == heads


def bars(drawn: str, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(drawn).iter(f"{{http://www.w3.org/2000/svg}}{tag}"))


def test_points_and_bars_stand_where_the_figures_say() -> None:
    drawn = svg([Bin(0.2, 0.3, 0.25, 4, 1), Bin(0.9, 1.0, 1.0, 8, 8)])
    low, high = bars(drawn, "circle")
    side = (float(high.get("cx", 0)) - float(low.get("cx", 0))) / 0.75
    assert float(low.get("cy", 0)) - float(high.get("cy", 0)) == pytest.approx(0.75 * side)
    small, tall = (float(bar.get("height", 0)) for bar in bars(drawn, "rect"))
    assert tall == pytest.approx(2 * small)
    assert "calibration error 0.000" in drawn


@pytest.mark.parametrize("draw", [lambda: svg([]), lambda: svg([Bin(0.5, 0.6, 0.5, 1, 0)], "\x00<&\ud800")])  # fmt: skip
def test_any_plot_is_well_formed(draw: Callable[[], str]) -> None:
    assert ElementTree.fromstring(draw().encode()).get("role") == "img"
