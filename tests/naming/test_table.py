"""`diagnose.naming.table`: weights as bytes, and what a wrong file is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.naming import causes, origins
from diagnose.naming.table import Table, row

weights = st.lists(st.lists(st.floats(-20, 20), min_size=3, max_size=3), min_size=1, max_size=8)


@given(weights)
def test_a_table_comes_back_as_it_was_written(some: list[list[float]]) -> None:
    table = Table.of(("a", "b", "c"), some)
    assert Table.read(table.packed()) == table


@given(weights, st.lists(st.text(max_size=5), max_size=6))
def test_scores_are_the_sums_of_the_rows_within_what_a_byte_can_tell(
    some: list[list[float]], features: list[str]
) -> None:
    table = Table.of(("a", "b", "c"), some)
    rows = {row(feature, len(some)) for feature in features}
    exact = [sum(some[at][column] for at in rows) for column in range(3)]
    found = table.scores(features)
    for column, name in enumerate(table.columns):
        assert found[name] == pytest.approx(
            exact[column], abs=0.51 * table.scale * max(1, len(rows))
        )


def test_shares_add_up_and_leave_out_what_is_impossible() -> None:
    table = Table.of(("a", "b", "c"), [[2.0, 1.0, 0.0]])
    shares = table.shares(["any"], ("b", "c"))
    assert set(shares) == {"b", "c"}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["b"] > shares["c"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not a table of weights"),
        (b'{"rows": 2}\n', "not a table of weights"),
        (b'{"columns": ["a"], "rows": 2, "scale": 0.1}\n\x01', "has 1 weights, not 2"),
    ],
)
def test_a_file_that_is_no_table_is_refused(content: bytes, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Table.read(content)


def test_the_tables_that_are_shipped_have_the_columns_that_are_asked_for(casebase: object) -> None:
    assert origins.table().columns == origins.ORIGINS
    assert set(causes.table().columns) == set(casebase.causes)  # type: ignore[attr-defined]
    shipped = len(origins.table().packed()) + len(causes.table().packed())
    assert shipped <= 1_000_000
