"""A trainer is told that its model is spread over GPUs: it leaves that where it is, and wraps nothing."""

from __future__ import annotations

import ast

from diagnose.fixes.definitions.expressions import argument
from diagnose.fixes.definitions.places import called, statement_of
from diagnose.fixes.definitions.statements import before_statement
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change
from diagnose.placement.model import Suspect
from diagnose.scene import sourceline

#: The attribute by which trainers know it, and what it holds of a model that was spread by hand.
_MAP = (
    "hf_device_map = {{name: weight.device.index for name, weight in {model}.named_parameters()}}"
)


def told_to_trainer(suspect: Suspect) -> Change | None:
    """A statement above the trainer that brought a model to one GPU: on which each of its weights is; None
    where no trainer did.

    Raises:
        Refused: the trainer stands in another file, or is given a model that has no name there.
    """
    gathered = next((one for one in reversed(suspect.steps) if one.what == "gathered"), None)
    node = gathered.spot.node if gathered is not None else None
    if gathered is None or not isinstance(node, ast.Call) or not called(node).endswith("Trainer"):
        return None
    source = suspect.spot.source
    if gathered.spot.source is not source:
        raise Refused("the trainer stands in another file")
    model = argument(node, "model") or (node.args[0] if node.args else None)
    name = sourceline.dotted(model) if model is not None else None
    if name is None:
        raise Refused("the trainer is given a model that has no name")
    return before_statement(source, statement_of(source, node), f"{name}.{_MAP.format(model=name)}")
