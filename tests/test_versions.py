"""Versions and sets of them, held against `packaging`, which wrote PEP 440 down in code."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version as Reference

from diagnose.versions import version, version_set

numbers = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(lambda n: ".".join(map(str, n)))
written = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "v", "1!"]),
        numbers,
        st.sampled_from(["", "", "a1", "-beta.2", "rc1", "_pre3", "c"]),
        st.sampled_from(["", "", ".post1", "-1", "rev"]),
        st.sampled_from(["", "", ".dev0", "dev3", "-dev"]),
        st.sampled_from(["", "", "+cu118", "+git.1a2b"]),
    ),
)
public = written.map(lambda text: text.partition("+")[0])
clauses = st.one_of(
    st.builds(str.__add__, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), public),
    numbers.map(lambda n: f"=={n}.*"),
    numbers.map(lambda n: f"!={n}.*"),
    public.filter(lambda v: len(Reference(v).release) > 1).map(lambda v: f"~={v}"),
)


@given(written, written)
def test_versions_have_the_order_of_pep_440(one: str, two: str) -> None:
    left, right = version(one), version(two)
    assert left is not None and right is not None
    references = [Reference(str(Reference(text)).partition("+")[0]) for text in (one, two)]
    assert (left < right, left == right) == (
        references[0] < references[1],
        references[0] == references[1],
    )


@example("0a1", "<0.post1")
@example("0.post1.dev0", "<0.post1")
@example("0a1.post1.dev1", "<0")
@given(written, st.lists(clauses, min_size=1, max_size=3).map(", ".join))
def test_a_set_holds_what_pep_440_says(one: str, some: str) -> None:
    found, wanted = version(one), version_set(some)
    assert found is not None and wanted is not None
    plain = str(Reference(one)).partition("+")[0]
    assert wanted.holds(found) == SpecifierSet(some).contains(plain, prereleases=True)


@pytest.mark.parametrize("text", ["", "latest", "main", "4.41.x", "1..2", "2.1 or so", "9" * 200])
def test_anything_else_is_no_version(text: str) -> None:
    assert version(text) is None


@pytest.mark.parametrize("text", ["", "0.7.1", ">=", ">=0.6,", "=<1", ">=1.*", "~=2", "==1.0rc1.*"])
def test_anything_else_is_no_set(text: str) -> None:
    assert version_set(text) is None
