"""Tracing met two devices: fake tensors have no values, but they do have a device."""

import torch
from torch._subclasses import FakeTensorMode


def trace(function, hidden):
    """What torch.compile and torch.export do first: run the code on fake tensors."""
    with FakeTensorMode() as mode:
        return function(mode.from_tensor(hidden))


def add_noise_on_cpu(hidden):
    return hidden + torch.randn(hidden.shape)


def add_noise(hidden):
    return hidden + torch.randn_like(hidden)


def mistake(devices):
    """The traced code makes a tensor on the cpu and adds it to one on the GPU."""
    return trace(add_noise_on_cpu, torch.randn(2, 8, 16, device=devices[0]))


def fixed(devices):
    """The noise takes its device from the hidden states, so the trace names none."""
    return trace(add_noise, torch.randn(2, 8, 16, device=devices[0]))
