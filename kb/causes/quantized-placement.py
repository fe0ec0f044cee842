"""A quantized model is moved the wrong way: packed on the cpu, then .to() like any other model."""

import torch
from torch import nn


class Int8Linear(nn.Module):
    """Stands for a model loaded in 8-bit: int8 weights, and one scale a row."""

    def __init__(self, layer, device):
        super().__init__()
        weight = layer.weight.detach().to(device)
        self.scale = weight.abs().amax(dim=1) / 127
        self.packed = (weight / self.scale[:, None]).round().to(torch.int8)

    def to(self, *args, **kwargs):
        raise ValueError(
            "`.to` is not supported for `8-bit` bitsandbytes models. Please use the model as "
            "it is, since the model has already been set to the correct devices"
        )

    def forward(self, x):
        return x @ self.packed.to(x.dtype).T * self.scale


def mistake(devices):
    """Loaded without a place, the model is moved afterwards."""
    model = Int8Linear(nn.Linear(16, 4), device="cpu")
    model.to(devices[0])
    return model(torch.randn(2, 16, device=devices[0]))


def fixed(devices):
    """The place is given when loading, as device_map={"": 0} does."""
    model = Int8Linear(nn.Linear(16, 4), device=devices[0])
    return model(torch.randn(2, 16, device=devices[0]))
