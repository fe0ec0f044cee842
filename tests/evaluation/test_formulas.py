"""The formulas against their definitions."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.evaluation.formulas import calibration, calibration_error, sign_test, wilson

Z = 1.959963984540054
ANSWERS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=60)


@given(st.integers(1, 5000), st.data())
def test_the_bounds_of_wilson_are_where_the_normal_test_just_rejects(
    n: int, data: st.DataObject
) -> None:
    """Its definition: the shares p from which the observed one is z standard errors of p away."""
    share = data.draw(st.integers(0, n)) / n
    low, high = wilson(share, n)
    assert 0 <= low <= share <= high <= 1
    for bound in (low, high):
        distance = Z * math.sqrt(bound * (1 - bound) / n)
        assert abs(share - bound) == pytest.approx(distance, abs=1e-7)


def test_wilson_has_width_even_without_a_miss() -> None:
    # Worked out by hand from the closed form: n / (n + z²) for a share of 1.
    low, high = wilson(1.0, 25)
    assert (round(low, 4), high) == (0.8668, 1.0)
    assert wilson(0.5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)


@given(ANSWERS)
def test_calibration_error_is_the_weighted_gap_of_ten_bins(
    answers: list[tuple[float, bool]],
) -> None:
    """The definition, written out the slow way."""
    expected = 0.0
    for k in range(10):
        members = [a for a in answers if k <= a[0] * 10 < k + 1 or (k == 9 and a[0] == 1)]
        if members:
            confidence = sum(c for c, _ in members) / len(members)
            accuracy = sum(right for _, right in members) / len(members)
            expected += len(members) / len(answers) * abs(confidence - accuracy)
    assert calibration_error(calibration(answers)) == pytest.approx(expected, abs=1e-9)


@given(ANSWERS, st.randoms())
def test_bins_hold_every_answer_once_in_any_order(answers: list, random: object) -> None:
    bins = calibration(answers)
    assert sum(bin.n for bin in bins) == len(answers)
    assert sum(bin.right for bin in bins) == sum(right for _, right in answers)
    for bin in bins:
        assert bin.n > 0
        assert bin.low - 1e-9 <= bin.confidence <= bin.high + 1e-9
    shuffled = list(answers)
    random.shuffle(shuffled)
    assert calibration(shuffled) == bins


def test_calibration_error_of_the_best_and_the_worst() -> None:
    assert calibration_error(calibration([])) == 0
    assert calibration_error(calibration([(1.0, True), (0.0, False)])) == 0
    assert calibration_error(calibration([(1.0, False), (0.0, True)])) == 1
    assert calibration_error(calibration([(0.75, True)] * 3 + [(0.75, False)])) == 0


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (3, 1), (2, 5), (6, 0), (4, 4)])
def test_the_sign_test_counts_coins(better: int, worse: int) -> None:
    n = better + worse
    uneven = sum(
        abs(2 * sum(coins) - n) >= abs(better - worse) for coins in product((0, 1), repeat=n)
    )
    assert sign_test(better, worse) == pytest.approx(uneven / 2**n)
