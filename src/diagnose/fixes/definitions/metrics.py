"""Losses and metrics are moved where they are built, or registered by the module that keeps several."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.definitions.moving import module
from diagnose.fixes.definitions.places import class_around
from diagnose.fixes.definitions.registering import layers
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change
from diagnose.model import TorchNames
from diagnose.placement.model import Suspect


def registered(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """A loss or metric is moved where it is built; what a module keeps of them in a list or dict of its own
    is registered, and moves with it."""
    try:
        return module(suspect, torch)
    except Refused:
        owner = class_around(suspect.spot.source, suspect.spot.node)
        bases = [ast.unparse(base) for base in owner.bases] if owner is not None else []
        if not any(base.endswith("Module") for base in bases):
            raise
        return layers(suspect, torch)


KINDS = {"move-loss": registered, "move-metric": registered}
