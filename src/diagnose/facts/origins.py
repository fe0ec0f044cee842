"""What the source says of the misplaced value: the suspect of `diagnose.placement` as a fact."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.model import Fact
from diagnose.paths import place
from diagnose.scene import Scene

#: The causes that the analysis tells, and the facts that say so.
_FACTS = {
    "input-not-moved": "source-input-not-moved",
    "module-not-moved": "source-module-not-moved",
    "submodule-added-after-move": "source-submodule-added-after-move",
    "unregistered-submodule": "source-unregistered-submodule",
    "unregistered-tensor": "source-unregistered-tensor",
    "created-without-device": "source-created-without-device",
    "hardcoded-device": "source-hardcoded-device",
    "dataparallel-home-device": "source-dataparallel-home-device",
    "optimizer-state": "source-optimizer-state",
    "loss-or-metric-state": "source-loss-or-metric-state",
    "generator-device": "source-generator-device",
    "index-device": "source-index-device",
    "checkpoint-location": "source-checkpoint-location",
    "meta-tensor": "source-meta-tensor",
    "host-copy-needed": "source-host-copy-needed",
    "rank-device": "source-rank-device",
    "low-memory-mode": "source-low-memory-mode",
    "device-map-under-training": "source-device-map-under-training",
    "kernel-needs-gpu": "source-kernel-needs-gpu",
    "offloaded-to-cpu": "source-offloaded-to-cpu",
    "zero-offload": "source-zero-offload",
    "input-on-wrong-shard": "source-input-on-wrong-shard",
    "cross-shard-op": "source-cross-shard-op",
    "dataparallel-replica-state": "source-dataparallel-replica-state",
}


def origin(scene: Scene) -> Iterator[Fact]:
    """Why the likeliest suspect is where it is; its fact is named for its cause."""
    for suspect in scene.suspects[:1]:
        name = _FACTS.get(suspect.cause)
        if name == "source-module-not-moved" and isinstance(suspect.spot.node, ast.arg):
            name = "source-module-taken"
        if name is not None:
            known = {
                "name": suspect.name,
                "place": place(scene.printed(suspect.line.file), suspect.line.line),
                "code": suspect.line.code,
                "device": str(suspect.device) if suspect.device else "",
                "other": str(suspect.wanted) if suspect.wanted else "",
            }
            yield Fact(name, None, {key: value for key, value in known.items() if value})
