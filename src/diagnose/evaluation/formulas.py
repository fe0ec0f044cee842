"""The few formulas: Wilson's interval, calibration in bins, the sign test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: The 97.5th percentile of the normal distribution: intervals of 95 %.
_Z = 1.959963984540054
BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of like confidence: its bounds, their mean confidence, how many there are, and how many of
    them are right."""

    low: float
    high: float
    confidence: float
    n: int
    right: int

    @property
    def accuracy(self) -> float:
        """The share that was right."""
        return self.right / self.n


def wilson(mean: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share ``mean`` among ``n`` > 0.

    For the mean of values between 0 and 1 that are not only 0 or 1 it is wider than need be: their variance
    is below that of a share with the same mean.
    """
    square = _Z * _Z
    centre = (mean + square / (2 * n)) / (1 + square / n)
    half = _Z / (1 + square / n) * math.sqrt(mean * (1 - mean) / n + square / (4 * n * n))
    # At 0 and 1 the bound is the mean itself; rounding must not move it.
    return min(mean, max(0.0, centre - half)), max(mean, min(1.0, centre + half))


def calibration(answers: Sequence[tuple[float, bool]]) -> tuple[Bin, ...]:
    """The non-empty ones of ten equal bins of confidence; each answer is its confidence and whether it
    was right."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for confidence, right in answers:
        bins.setdefault(min(int(confidence * BINS), BINS - 1), []).append((confidence, right))
    return tuple(
        Bin(
            low=key / BINS,
            high=(key + 1) / BINS,
            confidence=math.fsum(confidence for confidence, _ in members) / len(members),
            n=len(members),
            right=sum(right for _, right in members),
        )
        for key, members in sorted(bins.items())
    )


def calibration_error(bins: Sequence[Bin]) -> float:
    """The expected calibration error: how far confidence and accuracy are apart, on average over the
    answers. 0 for no answers."""
    total = sum(bin.n for bin in bins)
    return math.fsum(bin.n / total * abs(bin.confidence - bin.accuracy) for bin in bins)


def sign_test(better: int, worse: int) -> float:
    """How often chance alone gives a split at least as uneven, if either way is as likely (two-sided)."""
    n = better + worse
    tail = sum(math.comb(n, k) for k in range(min(better, worse) + 1))
    return min(1.0, math.ldexp(tail, 1 - n))
