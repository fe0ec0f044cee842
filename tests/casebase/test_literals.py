"""What every match of a pattern holds: no fact may be lost by not trying its pattern."""

from __future__ import annotations

import re

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from diagnose.casebase.store import Casebase
from diagnose.compiling.literals import required


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("accelerate/hooks", (("accelerate/hooks",),)),
        (r"^torch\.(numpy|cai|dlpack)", (("torch.",), ("cai", "dlpack", "numpy"))),
        ("(?i)Loss|criterion", (("criterion", "loss"),)),
        (
            r"Tensor (?P<a>\w+) on \w+, not on (?P<b>cpu|meta)\b",
            ((", not on ",), ("tensor ",), (" on ",), ("cpu", "meta")),
        ),
        (r"\d+", ()),
        ("(abc)?", ()),
        ("(abc)+x", (("abc",),)),
        ("(?:abc|d*)", ()),
        ("[ab]c", ()),
        ("x|", ()),
        ("a++b", ()) if hasattr(re, "NOFLAG") else ("(", ()),
    ],
)
def test_the_texts_that_a_match_must_hold(
    pattern: str, literals: tuple[tuple[str, ...], ...]
) -> None:
    assert required(pattern) == literals


PARTS = st.recursive(
    st.sampled_from(["abc", "de", "F", r"\w", "[xy]", r"\.", "."]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}"])).map(lambda p: f"(?:{p[0]}){p[1]}"),
    ),
    max_leaves=6,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(pattern=PARTS, data=st.data(), fold=st.booleans())
def test_a_text_without_the_literals_never_matches(
    pattern: str, data: st.DataObject, fold: bool
) -> None:
    pattern = f"(?i){pattern}" if fold else pattern
    text = data.draw(st.from_regex(pattern))
    found = regex.search(pattern, text)
    assume(found is not None)
    folded = text.casefold()
    assert all(any(literal in folded for literal in group) for group in required(pattern))


def test_most_patterns_of_the_facts_demand_a_literal(casebase: Casebase) -> None:
    patterns = [
        (rule.id, key)
        for rule in casebase.knowledge.facts.values()
        for key in (*rule.when, *rule.frame)
    ]
    held = [key for rule in casebase.knowledge.facts.values() for key in rule.literals]
    assert len(held) > len(patterns) / 3
