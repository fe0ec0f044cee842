"""Parameters are still on the meta device: the checkpoint has no values for the new head."""

import torch
from torch import nn


def load(pretrained):
    """Memory-saving loading: built on meta, then given the tensors of the checkpoint."""
    model = nn.ModuleDict(
        {"body": nn.Linear(16, 32, device="meta"), "head": nn.Linear(32, 10, device="meta")}
    )
    model.load_state_dict(pretrained, strict=False, assign=True)
    return model


def mistake(devices):
    """The head got no values, so there is nothing to move."""
    model = load({"body.weight": torch.randn(32, 16), "body.bias": torch.zeros(32)})
    model.to(devices[0])
    return model["head"](model["body"](torch.randn(4, 16, device=devices[0])))


def fixed(devices):
    """The head gets memory and is initialised."""
    model = load({"body.weight": torch.randn(32, 16), "body.bias": torch.zeros(32)})
    model["head"].to_empty(device=devices[0])
    model["head"].reset_parameters()
    model.to(devices[0])
    return model["head"](model["body"](torch.randn(4, 16, device=devices[0])))
