"""Which of several operands is the misplaced one, where neither message nor carets tell: a share each.

A cause says what it misplaces (a tensor that was made without a device, an attribute that no move
reaches), and what an operand is, its name and the calls above it say (`provenance`). Together they tell
more than either: of 81 operands among several the origins alone chose the right one in 40, with the causes
in 59; 29 of 32 where the share was 0.8 or more (docs/measurements.md).
"""

from __future__ import annotations

from collections.abc import Mapping

from diagnose.scene import provenance
from diagnose.scene.scene import Scene

#: How likely a value of an origin is what a cause misplaces, roughly; a cause that is missing, any.
_MISPLACES: Mapping[str, Mapping[str, float]] = {
    "input-not-moved": {
        "batch": 1.0, "given": 0.7, "index": 0.5, "mask": 0.5, "loaded": 0.4, "activation": 0.05,
    },
    "created-without-device": {
        "made": 1.0, "mask": 0.6, "index": 0.4, "state": 0.3, "attribute": 0.2, "given": 0.2, "host": 0.1,
        "scalar": 0.1,
    },
    "unregistered-tensor": {
        "attribute": 1.0, "buffer": 0.9, "state": 0.6, "parameter": 0.5, "loaded": 0.3, "made": 0.1,
    },
    "checkpoint-location": {
        "loaded": 1.0, "attribute": 0.8, "state": 0.7, "buffer": 0.5, "parameter": 0.3, "given": 0.3,
    },
    "loss-or-metric-state": {
        "attribute": 1.0, "state": 1.0, "buffer": 1.0, "parameter": 0.8, "made": 0.2,
    },
    "hardcoded-device": {
        "made": 1.0, "batch": 0.8, "mask": 0.8, "index": 0.8, "attribute": 0.5, "given": 0.5, "loaded": 0.3,
        "state": 0.3, "buffer": 0.3,
    },
    "index-device": {
        "index": 1.0, "mask": 0.9, "made": 0.5, "batch": 0.3, "given": 0.3, "attribute": 0.2, "buffer": 0.2,
    },
    "cross-shard-op": {
        "activation": 1.0, "parameter": 0.5, "made": 0.5, "mask": 0.5, "given": 0.3, "buffer": 0.3,
        "batch": 0.3,
    },
    "input-on-wrong-shard": {"batch": 1.0, "given": 0.7, "index": 0.6, "mask": 0.5},
    "rank-device": {
        "batch": 1.0, "made": 0.8, "index": 0.6, "mask": 0.6, "given": 0.5, "attribute": 0.3,
    },
    "dataparallel-replica-state": {"attribute": 1.0, "state": 0.8, "buffer": 0.3},
    "module-not-moved": {"parameter": 1.0, "buffer": 0.7, "attribute": 0.5},
    "submodule-added-after-move": {"parameter": 1.0, "buffer": 0.7, "attribute": 0.5},
    "optimizer-state": {"state": 1.0, "attribute": 0.7, "parameter": 0.4},
    "zero-offload": {"parameter": 1.0, "state": 0.4},
    "offloaded-to-cpu": {"parameter": 1.0, "buffer": 0.6, "activation": 0.3},
}  # fmt: skip
#: That a cause misplaces what its row does not name.
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
    weights: dict[str, float] = {}
    for one in met.strays:
        found = provenance.of_operand(one, site, scene.above, scene.knowledge.torch)
        weights[one.text] = sum(
            confidence * share * _misplaced(cause, origin)
            for cause, confidence in causes.items()
            for origin, share in found.items()
        )
    total = sum(weights.values())
    ordered = sorted(weights.items(), key=lambda item: -item[1])
    return {text: weight / total for text, weight in ordered} if total else {}


def _misplaced(cause: str, origin: str) -> float:
    row = _MISPLACES.get(cause)
    return provenance.STRAY[origin] if row is None else row.get(origin, _SELDOM)
