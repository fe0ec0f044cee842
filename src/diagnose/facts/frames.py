"""Whose line failed, how deep inside, and in which processes."""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.facts.values import at
from diagnose.model import Fact
from diagnose.patterns import lazy
from diagnose.scene import Scene


def ranks(scene: Scene) -> Iterator[Fact]:
    """Which processes failed."""
    report = scene.report
    line = report.error.at if report.error else None
    if len(report.ranks) > 1:
        yield Fact("several-ranks", line, {"ranks": ", ".join(map(str, report.ranks[:8]))})
    elif report.ranks and report.ranks[0] > 0:
        yield Fact("later-rank", line, {"rank": str(report.ranks[0])})


def whose_line(scene: Scene) -> Iterator[Fact]:
    """Whether the line that called the failing op is the user's own."""
    if scene.site is not None:
        frame = scene.site.frame
        yield at("fails-in-own-code" if frame.own else "fails-in-library", frame)


def depth(scene: Scene) -> Iterator[Fact]:
    """How many modules are entered before it fails."""
    entered = [
        frame
        for frame in scene.report.frames
        if frame.function in {"forward", "_conv_forward"}
        and "torch/nn/modules/module" not in frame.file
    ]
    if entered:
        name = "shallow" if len(entered) <= 2 else "deep"
        yield at(name, entered[-1], depth=str(len(entered)))


_CRITERION = lazy(
    r"(?i)\b(self\.)?(criterion\w*|loss_(fn|fct|func|function|net)|compute_loss|(?!forward_)\w*loss)\("
)


def inside_criterion(scene: Scene) -> Iterator[Fact]:
    """A loss object's own ``forward``, not one of torch's, is entered before it fails."""
    called = False
    for frame in scene.report.frames:
        if called and frame.function == "forward" and frame.library != "torch":
            yield at("inside-criterion", frame)
            return
        called = called or bool(_CRITERION.search((frame.code or "")[:1000]))
