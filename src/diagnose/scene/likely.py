"""Which of several operands is the misplaced one, where neither message nor carets tell: a share each.

A cause says what it misplaces (a tensor that was made without a device, an attribute that no move
reaches), and what an operand is, its name and the calls above it say (`provenance`). Together they tell
more than either: of 81 operands among several the origins alone chose the right one in 40, with the causes
in 59; 29 of 32 where the share was 0.8 or more (docs/measurements.md).
"""

from __future__ import annotations

from collections.abc import Mapping

from diagnose.model import ANY, Strays
from diagnose.scene import provenance
from diagnose.scene.scene import Scene

#: That a cause misplaces what its table in kb/strays.toml does not name.
_SELDOM = 0.02


def shares(scene: Scene, causes: Mapping[str, float]) -> dict[str, float]:
    """The share of each operand that may be the misplaced one, likeliest first; empty where the line shows
    none.

    Args:
        scene: the report, looked at.
        causes: the confidence of each cause.
    """
    met, site = scene.met, scene.site
    if met is None or site is None:
        return {}
    knowledge, weights = scene.knowledge, dict[str, float]()
    for one in met.strays:
        found = provenance.of_operand(one, site, scene.above, knowledge.torch)
        weights[one.text] = sum(
            confidence * share * _misplaced(knowledge.strays, cause, origin)
            for cause, confidence in causes.items()
            for origin, share in found.items()
        )
    total = sum(weights.values())
    ordered = sorted(weights.items(), key=lambda item: -item[1])
    return {text: weight / total for text, weight in ordered} if total else {}


def _misplaced(strays: Strays, cause: str, origin: str) -> float:
    row = strays.get(cause)
    return strays[ANY][origin] if row is None else row.get(origin, _SELDOM)
