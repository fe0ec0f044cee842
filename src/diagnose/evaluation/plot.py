"""The calibration curve as SVG: accuracy over confidence, with the number of answers below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from diagnose.evaluation.formulas import BINS, Bin, calibration_error, wilson

#: Greys and a blue that stand out from white and from black alike; the ground is transparent.
_INK = "#767676"
_FAINT = "#76767655"
_CURVE = "#2f81c9"

_SIDE = 360
_LEFT, _TOP = 64, 56
_BARS = 84
_GAP = 30
_WIDTH = _LEFT + _SIDE + 24
_FLOOR = _TOP + _SIDE + _GAP + _BARS
_HEIGHT = _FLOOR + 52


def svg(bins: Sequence[Bin], title: str = "Calibration") -> str:
    """A reliability diagram with 95 % intervals and a histogram, 448 by 582 units.

    Args:
        bins: the non-empty bins of the confidences; without any, the axes alone are drawn.
        title: stands above the diagram and names it for screen readers.
    """
    total = sum(bin.n for bin in bins)
    says = f"{total} answers, calibration error {calibration_error(bins):.3f}"
    described = "; ".join(
        f"confidence {bin.confidence:.2f}: right {bin.accuracy:.2f} of {bin.n}" for bin in bins
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}"'
        f' height="{_HEIGHT}" role="img"'
        f' font-family="system-ui, sans-serif" font-size="12" fill="{_INK}">',
        f"<title>{escape(_printable(title))}</title>",
        f"<desc>{says}. {described}</desc>",
        f'<text x="{_LEFT}" y="22" font-size="15" font-weight="600">{escape(_printable(title))}</text>',
        f'<text x="{_LEFT}" y="41">{says}</text>',
        *_axes(),
        *_curve(bins),
        *_histogram(bins),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _x(value: float) -> float:
    return _LEFT + value * _SIDE


def _y(value: float) -> float:
    return _TOP + (1 - value) * _SIDE


def _axes() -> Iterator[str]:
    yield f'<g stroke="{_FAINT}">'
    for step in range(0, BINS + 1, 2):
        x, y = _x(step / BINS), _y(step / BINS)
        yield f'<path d="M{x:.1f} {_TOP}V{_TOP + _SIDE}M{_LEFT} {y:.1f}H{_LEFT + _SIDE}"/>'
    yield f'<path d="M{_LEFT} {_FLOOR}H{_LEFT + _SIDE}"/>'
    yield "</g>"
    yield (
        f'<path d="M{_x(0):.1f} {_y(0):.1f}L{_x(1):.1f} {_y(1):.1f}" stroke="{_INK}"'
        ' stroke-dasharray="5 4"/>'
    )
    for step in range(0, BINS + 1, 2):
        value = step / BINS
        yield f'<text x="{_LEFT - 8}" y="{_y(value) + 4:.1f}" text-anchor="end">{value:.1f}</text>'
        yield f'<text x="{_x(value):.1f}" y="{_FLOOR + 18}" text-anchor="middle">{value:.1f}</text>'
    middle = _TOP + _SIDE / 2
    yield (
        f'<text x="20" y="{middle}" text-anchor="middle" transform="rotate(-90 20 {middle})">'
        "share that is right</text>"
    )
    bars = _FLOOR - _BARS / 2
    yield (
        f'<text x="20" y="{bars}" text-anchor="middle" transform="rotate(-90 20 {bars})">'
        "answers</text>"
    )
    yield (
        f'<text x="{_LEFT + _SIDE / 2}" y="{_FLOOR + 40}" text-anchor="middle">'
        "confidence of the first cause</text>"
    )


def _curve(bins: Sequence[Bin]) -> Iterator[str]:
    yield f'<g stroke="{_CURVE}" fill="none" stroke-width="1.5">'
    for bin in bins:
        low, high = wilson(bin.accuracy, bin.n)
        x = _x(bin.confidence)
        yield (
            f'<path d="M{x:.1f} {_y(low):.1f}V{_y(high):.1f}M{x - 4:.1f} {_y(low):.1f}h8'
            f'M{x - 4:.1f} {_y(high):.1f}h8" stroke-opacity="0.6"/>'
        )
    points = " ".join(f"{_x(bin.confidence):.1f},{_y(bin.accuracy):.1f}" for bin in bins)
    if len(bins) > 1:
        yield f'<polyline points="{points}" stroke-width="2"/>'
    yield "</g>"
    yield f'<g fill="{_CURVE}">'
    for bin in bins:
        yield (
            f'<circle cx="{_x(bin.confidence):.1f}" cy="{_y(bin.accuracy):.1f}" r="4">'
            f"<title>{bin.right} of {bin.n} right at {bin.confidence:.2f}</title></circle>"
        )
    yield "</g>"


def _histogram(bins: Sequence[Bin]) -> Iterator[str]:
    most = max((bin.n for bin in bins), default=1)
    for bin in bins:
        # Room above the tallest bar for its number.
        tall = bin.n / most * (_BARS - 14)
        left, right = _x(bin.low) + 2, _x(bin.high) - 2
        yield (
            f'<rect x="{left:.1f}" y="{_FLOOR - tall:.1f}" width="{right - left:.1f}"'
            f' height="{tall:.1f}" fill="{_CURVE}" fill-opacity="0.55"/>'
        )
        yield (
            f'<text x="{(left + right) / 2:.1f}" y="{_FLOOR - tall - 4:.1f}" font-size="11"'
            f' text-anchor="middle">{bin.n}</text>'
        )


def _printable(text: str) -> str:
    """Control characters are not allowed in XML, not even escaped."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
