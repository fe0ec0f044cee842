"""What the source says of the misplaced value: the suspect of `diagnose.placement` as a fact."""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.model import Fact
from diagnose.paths import place
from diagnose.scene import Scene


def origin(scene: Scene) -> Iterator[Fact]:
    """Why the likeliest suspect is where it is; its fact is named for its cause."""
    for suspect in scene.suspects[:1]:
        name = f"source-{suspect.cause}"
        if name in scene.knowledge.facts:
            known = {
                "name": suspect.name,
                "place": place(suspect.line.file, suspect.line.line),
                "code": suspect.line.code,
                "device": str(suspect.device) if suspect.device else "",
                "other": str(suspect.wanted) if suspect.wanted else "",
            }
            yield Fact(name, None, {key: value for key, value in known.items() if value})
