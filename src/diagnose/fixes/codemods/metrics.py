"""Losses and metrics are moved where they are built, or registered by the module that keeps several."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.codemods.positions import class_around
from diagnose.fixes.codemods.registration import layers
from diagnose.fixes.codemods.transfers import module
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Suspect


def registered(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """A loss or metric is moved where it is built; what a module keeps of them in a list or dict of its own
    is registered, and moves with it."""
    source, node = suspect.spot.source, suspect.spot.node
    owner = class_around(source, node)
    bases = [ast.unparse(base) for base in owner.bases] if owner is not None else []
    of_module = any(base.endswith("Module") for base in bases)
    if of_module and not suspect.devices and _is_handed(node):
        raise Refused("no device is known there: what the module keeps is a buffer")
    try:
        return module(suspect, torch)
    except Refused:
        if not of_module:
            raise
        return layers(suspect, torch)


def _is_handed(node: ast.AST) -> bool:
    """Whether a statement keeps what it is given by a name."""
    match node:
        case ast.Assign(targets=[ast.Attribute()], value=ast.Name()):
            return True
    return False


KINDS = {"move-loss": registered, "move-metric": registered}
