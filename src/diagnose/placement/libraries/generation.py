"""What a model runs of the user's while it generates (transformers' documentation, "Generation", "Utilities
for Generation")."""

from __future__ import annotations

import ast

from diagnose.kinds import Origin
from diagnose.placement.devices import SPLIT
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.machine import Arguments, Given
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Object

#: What ``generate`` calls such objects with: all is where the model is.
GIVEN = ("input_ids", "scores")


def generated(model: Module, call: CallSite) -> None:
    """Processors of logits and criteria that a model is handed run on what is where the model is."""
    where = model.where()
    if where is None or where == SPLIT:
        return
    for word in sorted(call.machine.torch.generation_arguments):
        said = call.given.told(word)
        listed = said.value if said is not None else None
        for one in listed.items if isinstance(listed, Items) else ():
            if isinstance(one, Object) and one.made is not None:
                tensors = [Given(ast.Name(name), Tensor(where, Origin.GIVEN)) for name in GIVEN]
                call.run(one, Arguments(tensors))
