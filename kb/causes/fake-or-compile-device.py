"""Tracing met two devices: fake tensors carry a device too."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode


def add_bias(hidden, bias):
    return hidden * 2 + bias


def mistake(devices):
    """torch.compile and torch.export trace with fake tensors, as here; the bias is on the cpu."""
    with FakeTensorMode():
        hidden = torch.empty(2, 8, 16, device=devices[0])
        return add_bias(hidden, torch.zeros(16))


def fixed(devices):
    """The bias is made on the device of the hidden states."""
    with FakeTensorMode():
        hidden = torch.empty(2, 8, 16, device=devices[0])
        return add_bias(hidden, hidden.new_zeros(16))
