"""A quantized model is placed the wrong way: weights packed on the cpu for a GPU kernel."""

import torch
from torch import nn


def int8_matmul(x, weight, scale):
    """Checks its operands as bitsandbytes does, whose kernel this stands for."""
    if any(tensor.device.type != "cuda" for tensor in (x, weight, scale)):
        places = [(tuple(tensor.shape), str(tensor.device)) for tensor in (x, weight, scale)]
        raise RuntimeError(f"All input tensors need to be on the same GPU, but found: {places}")
    return (x @ weight.to(x.dtype).T) * scale


class Int8Linear(nn.Module):
    def __init__(self, layer, device):
        super().__init__()
        weight = layer.weight.detach().to(device)
        self.scale = weight.abs().amax(dim=1) / 127  # no buffer: .to() would not move it
        self.packed = (weight / self.scale[:, None]).round().to(torch.int8)

    def to(self, *args, **kwargs):
        raise ValueError("`.to` is not supported for 8-bit models; their device is set on loading")

    def forward(self, x):
        return int8_matmul(x, self.packed, self.scale)


def mistake(devices):
    """Loaded without a place, the model is moved afterwards, as one moves any other."""
    model = Int8Linear(nn.Linear(16, 4), device="cpu")
    model.to(devices[0])
    return model(torch.randn(2, 16, device=devices[0]))


def fixed(devices):
    """The place is given when loading, as device_map={"": 0} does."""
    model = Int8Linear(nn.Linear(16, 4), device=devices[0])
    return model(torch.randn(2, 16, device=devices[0]))
